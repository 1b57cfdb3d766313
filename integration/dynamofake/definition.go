package dynamofake

import (
	"fmt"
	"slices"
	"time"
)

// The names of the types below are the service's, since they are read from
// requests and written to answers as JSON.

type attributeDefinition struct {
	AttributeName string
	AttributeType string
}

type keySchemaElement struct {
	AttributeName string
	KeyType       string
}

type projection struct {
	ProjectionType   string
	NonKeyAttributes []string `json:",omitempty"`
}

type throughput struct {
	ReadCapacityUnits  int64
	WriteCapacityUnits int64
}

type indexDefinition struct {
	IndexName             string
	KeySchema             []keySchemaElement
	Projection            projection
	ProvisionedThroughput *throughput `json:",omitempty"`
}

type streamSpecification struct {
	StreamEnabled  bool
	StreamViewType string `json:",omitempty"`
}

type timeToLive struct {
	AttributeName string
	Enabled       bool
}

type tag struct {
	Key   string
	Value string
}

// definition is what there is to know about a table but its items. It is also
// what the log keeps of it.
type definition struct {
	TableName                 string
	TableID                   string
	Created                   time.Time
	AttributeDefinitions      []attributeDefinition
	KeySchema                 []keySchemaElement
	BillingMode               string
	ProvisionedThroughput     throughput
	GlobalSecondaryIndexes    []indexDefinition
	LocalSecondaryIndexes     []indexDefinition
	StreamSpecification       *streamSpecification
	StreamLabel               string // of the latest stream
	DeletionProtectionEnabled bool
	TableClass                string
	TimeToLive                timeToLive
	Tags                      []tag
}

const (
	region  = "us-east-1"
	account = "000000000000"
)

func (d *definition) arn() string { return tableARN(d.TableName) }

func tableARN(name string) string {
	return fmt.Sprintf("arn:aws:dynamodb:%s:%s:table/%s", region, account, name)
}

// kindOf is the type of an attribute that is a key somewhere.
func (d *definition) kindOf(name string) (kind, bool) {
	i := slices.IndexFunc(d.AttributeDefinitions, func(a attributeDefinition) bool { return a.AttributeName == name })
	if i < 0 {
		return 0, false
	}
	return kindNamed(d.AttributeDefinitions[i].AttributeType)
}

// schema turns a key schema of this table into one that items can be checked
// with.
func (d *definition) schema(elements []keySchemaElement) schema {
	var s schema
	for _, e := range elements {
		k, _ := d.kindOf(e.AttributeName)
		if e.KeyType == "HASH" {
			s.hash = keyAttr{e.AttributeName, k}
		} else {
			s.sort = keyAttr{e.AttributeName, k}
		}
	}
	return s
}
