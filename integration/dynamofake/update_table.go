package dynamofake

import (
	"slices"
	"time"
)

// updateTableInput is the input of UpdateTable.
type updateTableInput struct {
	TableName                   *string
	AttributeDefinitions        []attributeDefinition
	BillingMode                 string
	ProvisionedThroughput       *throughput
	GlobalSecondaryIndexUpdates []indexUpdate
	StreamSpecification         *streamSpecification
	DeletionProtectionEnabled   *bool
	TableClass                  string
}

// indexUpdate is one change of a global index: exactly one of its members.
type indexUpdate struct {
	Create *indexDefinition
	Update *indexDefinition
	Delete *indexDefinition
}

// target is the index that the change is about, nil if there is none.
func (u *indexUpdate) target() *indexDefinition {
	for _, x := range []*indexDefinition{u.Create, u.Update, u.Delete} {
		if x != nil {
			return x
		}
	}
	return nil
}

// updateTable changes a table. All parts of the change are made or none.
func (s *Server) updateTable(in *updateTableInput) (*tableDescriptionOutput, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	now := s.now()
	err := s.changeTable(*in.TableName, func(d *definition) error { return in.apply(d, now) })
	if err != nil {
		return nil, err
	}
	t, err := s.described(&tableInput{in.TableName})
	if err != nil {
		return nil, err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	out := t.describe(statusUpdating)
	for i := range out.GlobalSecondaryIndexes {
		x := &out.GlobalSecondaryIndexes[i]
		x.IndexStatus = statusActive
		for _, u := range in.GlobalSecondaryIndexUpdates {
			if u.Create != nil && u.Create.IndexName == x.IndexName {
				x.IndexStatus = statusCreating
			}
		}
	}
	return &tableDescriptionOutput{out}, nil
}

// check checks what can be checked without the table.
func (in *updateTableInput) check() error {
	if err := checkTableName(&in.TableName); err != nil {
		return err
	}
	var c constraints
	c.name(in.TableName, "tableName")
	c.enum(in.BillingMode, "billingMode", provisioned, payPerRequest)
	if err := c.err(); err != nil {
		return err
	}
	nothing := in.ProvisionedThroughput == nil && in.BillingMode == "" && in.StreamSpecification == nil &&
		len(in.GlobalSecondaryIndexUpdates) == 0 && in.DeletionProtectionEnabled == nil && in.TableClass == ""
	switch {
	case nothing:
		return invalid("At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required")
	case in.BillingMode == provisioned && in.ProvisionedThroughput == nil:
		return invalid("One or more parameter values were invalid: ProvisionedThroughput must be specified when BillingMode is PROVISIONED")
	}
	if err := in.checkIndexUpdates(); err != nil {
		return err
	}
	return in.StreamSpecification.check()
}

// checkIndexUpdates refuses two changes of one index, and more than one index
// that is created or deleted (API reference, UpdateTable: one of them at once).
func (in *updateTableInput) checkIndexUpdates() error {
	seen := map[string]bool{}
	built := 0
	for i := range in.GlobalSecondaryIndexUpdates {
		u := &in.GlobalSecondaryIndexUpdates[i]
		x := u.target()
		if x == nil {
			return invalid("One or more parameter values were invalid: One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete must not be null")
		}
		if seen[x.IndexName] {
			return invalid("One or more parameter values were invalid: Only one global secondary index update per index is allowed simultaneously. Index: %s", x.IndexName)
		}
		seen[x.IndexName] = true
		if u.Create != nil || u.Delete != nil {
			built++
		}
	}
	if built > 1 {
		return fail(codeLimitExceeded, "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table")
	}
	return nil
}

// apply changes a definition.
func (in *updateTableInput) apply(d *definition, now time.Time) error {
	if in.BillingMode != "" {
		d.BillingMode = in.BillingMode
	}
	if in.ProvisionedThroughput != nil {
		if err := checkBilling(d.BillingMode, in.ProvisionedThroughput); err != nil {
			return err
		}
		d.ProvisionedThroughput = *in.ProvisionedThroughput
	}
	if d.BillingMode == payPerRequest {
		d.ProvisionedThroughput = throughput{}
	}
	if in.DeletionProtectionEnabled != nil {
		d.DeletionProtectionEnabled = *in.DeletionProtectionEnabled
	}
	if in.TableClass != "" {
		d.TableClass = in.TableClass
	}
	if err := in.applyStream(d, now); err != nil {
		return err
	}
	d.GlobalSecondaryIndexes = slices.Clone(d.GlobalSecondaryIndexes)
	for _, u := range in.GlobalSecondaryIndexUpdates {
		if err := in.applyIndex(d, u); err != nil {
			return err
		}
	}
	d.dropUnusedAttributes()
	return nil
}

// applyStream refuses to switch a stream on or off that is so already.
func (in *updateTableInput) applyStream(d *definition, now time.Time) error {
	if in.StreamSpecification == nil {
		return nil
	}
	enabled := d.StreamSpecification != nil
	switch {
	case in.StreamSpecification.StreamEnabled && enabled:
		return invalid("Table already has an enabled stream: TableName: %s", d.TableName)
	case !in.StreamSpecification.StreamEnabled && !enabled:
		return invalid("Table already has a disabled stream: TableName: %s", d.TableName)
	}
	d.setStream(in.StreamSpecification, now)
	return nil
}

// applyIndex creates, changes or deletes one global index.
func (in *updateTableInput) applyIndex(d *definition, u indexUpdate) error {
	name := u.target().IndexName
	at := slices.IndexFunc(d.GlobalSecondaryIndexes, func(x indexDefinition) bool { return x.IndexName == name })
	if u.Create == nil && at < 0 {
		return fail(codeNotFound, "Requested resource not found: Index: %s not found", name)
	}
	switch {
	case u.Delete != nil:
		d.GlobalSecondaryIndexes = slices.Delete(d.GlobalSecondaryIndexes, at, at+1)
		return nil
	case u.Update != nil:
		d.GlobalSecondaryIndexes[at].ProvisionedThroughput = u.Update.ProvisionedThroughput
		return nil
	case at >= 0:
		return invalid("Attempting to create an index which already exists: %s", name)
	case len(d.GlobalSecondaryIndexes) == maxGlobalIndexes:
		return invalid("One or more parameter values were invalid: GlobalSecondaryIndex count exceeds the per-table limit of %d", maxGlobalIndexes)
	}
	var c constraints
	if c.index(u.Create, "globalSecondaryIndexUpdates.create."); len(c) > 0 {
		return c.err()
	}
	// Its key must be defined in this request, though the table may know it
	// (API reference, UpdateTable: AttributeDefinitions).
	if err := checkIndex(u.Create, in.AttributeDefinitions, slices.Concat(d.LocalSecondaryIndexes, d.GlobalSecondaryIndexes)); err != nil {
		return err
	}
	if err := d.define(in.AttributeDefinitions); err != nil {
		return err
	}
	d.GlobalSecondaryIndexes = append(d.GlobalSecondaryIndexes, *u.Create)
	return nil
}

// define adds attribute definitions. What is defined already keeps its type,
// whatever the request says of it: so the service does.
func (d *definition) define(attributes []attributeDefinition) error {
	d.AttributeDefinitions = slices.Clone(d.AttributeDefinitions)
	for _, a := range attributes {
		k, known := kindNamed(a.AttributeType)
		if !known || !k.ordered() {
			return invalid("One or more parameter values were invalid: Invalid AttributeType: %s", a.AttributeType)
		}
		if _, have := d.kindOf(a.AttributeName); !have {
			d.AttributeDefinitions = append(d.AttributeDefinitions, a)
		}
	}
	return nil
}

// dropUnusedAttributes drops the definitions that a deleted index leaves.
func (d *definition) dropUnusedAttributes() {
	keys := slices.Clone(d.KeySchema)
	for _, x := range slices.Concat(d.LocalSecondaryIndexes, d.GlobalSecondaryIndexes) {
		keys = append(keys, x.KeySchema...)
	}
	d.AttributeDefinitions = slices.DeleteFunc(slices.Clone(d.AttributeDefinitions), func(a attributeDefinition) bool {
		return !slices.ContainsFunc(keys, func(e keySchemaElement) bool { return e.AttributeName == a.AttributeName })
	})
}
