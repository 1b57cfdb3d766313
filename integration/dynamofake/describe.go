package dynamofake

import "time"

// Statuses of a table or index in answers. A change is done when it is
// answered, but answered as the service does: as begun.
const (
	statusActive   = "ACTIVE"
	statusCreating = "CREATING"
	statusUpdating = "UPDATING"
	statusDeleting = "DELETING"
)

// The shapes below are those of the API reference (TableDescription), without
// what this server has not.

type throughputDescription struct {
	throughput
	NumberOfDecreasesToday int
}

type billingSummary struct {
	BillingMode string
}

type indexDescription struct {
	IndexName             string
	KeySchema             []keySchemaElement
	Projection            projection
	IndexStatus           string                 `json:",omitempty"`
	ProvisionedThroughput *throughputDescription `json:",omitempty"`
	IndexSizeBytes        int64
	ItemCount             int
	IndexArn              string
}

type tableClassSummary struct {
	TableClass string
}

type tableDescription struct {
	TableName                 string
	TableId                   string
	TableArn                  string
	TableStatus               string
	CreationDateTime          float64
	AttributeDefinitions      []attributeDefinition
	KeySchema                 []keySchemaElement
	ItemCount                 int
	TableSizeBytes            int64
	ProvisionedThroughput     throughputDescription
	BillingModeSummary        *billingSummary      `json:",omitempty"`
	LocalSecondaryIndexes     []indexDescription   `json:",omitempty"`
	GlobalSecondaryIndexes    []indexDescription   `json:",omitempty"`
	StreamSpecification       *streamSpecification `json:",omitempty"`
	LatestStreamArn           string               `json:",omitempty"`
	LatestStreamLabel         string               `json:",omitempty"`
	TableClassSummary         *tableClassSummary   `json:",omitempty"`
	DeletionProtectionEnabled bool
}

type tableDescriptionOutput struct {
	TableDescription *tableDescription
}

type describeTableOutput struct {
	Table *tableDescription
}

// epoch is a time as the service writes it: seconds since 1970.
func epoch(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// describe is the table as it is now; the caller holds its lock. Counts are
// exact, where the service's are some hours old.
func (t *table) describe(status string) *tableDescription {
	d := t.def
	out := &tableDescription{
		TableName: d.TableName, TableId: d.TableID, TableArn: d.arn(), TableStatus: status, CreationDateTime: epoch(d.Created),
		AttributeDefinitions: d.AttributeDefinitions, KeySchema: d.KeySchema,
		ItemCount: t.items.Len(), TableSizeBytes: t.bytes,
		ProvisionedThroughput:     throughputDescription{throughput: d.ProvisionedThroughput},
		DeletionProtectionEnabled: d.DeletionProtectionEnabled,
	}
	if d.BillingMode == payPerRequest {
		out.BillingModeSummary = &billingSummary{payPerRequest}
	}
	if d.TableClass != "" {
		out.TableClassSummary = &tableClassSummary{d.TableClass}
	}
	for _, x := range t.indexes {
		if x.global {
			out.GlobalSecondaryIndexes = append(out.GlobalSecondaryIndexes, t.describeIndex(x, status))
		} else {
			out.LocalSecondaryIndexes = append(out.LocalSecondaryIndexes, t.describeIndex(x, ""))
		}
	}
	if d.StreamLabel != "" {
		out.LatestStreamLabel = d.StreamLabel
		out.LatestStreamArn = d.arn() + "/stream/" + d.StreamLabel
		out.StreamSpecification = d.StreamSpecification
	}
	return out
}

// describeIndex is one index as it is now. Local indexes have no status and no
// throughput of their own.
func (t *table) describeIndex(x *index, status string) indexDescription {
	out := indexDescription{
		IndexName: x.name, Projection: x.projection, IndexStatus: status, IndexArn: t.def.arn() + "/index/" + x.name,
		IndexSizeBytes: x.bytes, ItemCount: x.entries.Len(),
	}
	for _, a := range x.schema.attrs() {
		e := keySchemaElement{a.name, "HASH"}
		if a == x.schema.sort {
			e.KeyType = "RANGE"
		}
		out.KeySchema = append(out.KeySchema, e)
	}
	if x.global {
		out.ProvisionedThroughput = new(throughputDescription)
		for _, g := range t.def.GlobalSecondaryIndexes {
			if g.IndexName == x.name && g.ProvisionedThroughput != nil {
				out.ProvisionedThroughput.throughput = *g.ProvisionedThroughput
			}
		}
	}
	return out
}
