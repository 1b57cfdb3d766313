package dynamofake

import (
	"crypto/rand"
	"fmt"
	"time"
)

const (
	payPerRequest = "PAY_PER_REQUEST"
	provisioned   = "PROVISIONED"
)

// Limits of a table's definition ("Quotas in Amazon DynamoDB": secondary
// indexes). Of a throughput, this is the number beyond which the service calls
// it out of bounds; what an account may have is less.
const (
	maxLocalIndexes  = 5
	maxGlobalIndexes = 20
	maxThroughput    = 1000000000000
)

// createInput is the input of CreateTable. What it lacks (encryption, policies,
// warm throughput, on-demand limits) is accepted and has no effect.
type createInput struct {
	TableName                 *string
	AttributeDefinitions      []attributeDefinition
	KeySchema                 []keySchemaElement
	BillingMode               string
	ProvisionedThroughput     *throughput
	LocalSecondaryIndexes     []indexDefinition
	GlobalSecondaryIndexes    []indexDefinition
	StreamSpecification       *streamSpecification
	DeletionProtectionEnabled bool
	TableClass                string
	Tags                      []tag
}

// definition is the table that is asked for.
func (in *createInput) definition(now time.Time) definition {
	d := definition{
		TableName: *in.TableName, TableID: newUUID(), Created: now,
		AttributeDefinitions: in.AttributeDefinitions, KeySchema: in.KeySchema,
		BillingMode:            in.BillingMode,
		GlobalSecondaryIndexes: in.GlobalSecondaryIndexes, LocalSecondaryIndexes: in.LocalSecondaryIndexes,
		DeletionProtectionEnabled: in.DeletionProtectionEnabled, TableClass: in.TableClass, Tags: in.Tags,
	}
	if in.ProvisionedThroughput != nil {
		d.ProvisionedThroughput = *in.ProvisionedThroughput
	}
	d.setStream(in.StreamSpecification, now)
	return d
}

// setStream enables or disables the stream of a definition.
func (d *definition) setStream(spec *streamSpecification, now time.Time) {
	if spec == nil || !spec.StreamEnabled {
		d.StreamSpecification = nil
		return
	}
	d.StreamSpecification = spec
	d.StreamLabel = now.UTC().Format(labelFormat)
}

// newUUID is a random UUID, version 4.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, as documented
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
