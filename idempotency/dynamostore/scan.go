package dynamostore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/idempotency"
)

// Scanner is what [Unfinished] calls of the DynamoDB client.
type Scanner interface {
	Scan(context.Context, *dynamodb.ScanInput, ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error)
}

// Scanned is what a scan has read.
type Scanned struct {
	Items     int // records and body items
	ReadUnits float64
}

// Unfinished calls found with every record of a table that is not plainly finished, in no order, and with the database's
// time as [Store.Look] tells it: processing records, released ones with steps, and those that this code cannot read, whatever
// their status, as Look returns them. Body items are not read: a completed record whose body is lost is not found.
//
// It reads the whole table, eventually consistently, at half a read unit for each 4 KB: for operators, not for requests.
// It needs dynamodb:Scan.
func Unfinished(ctx context.Context, client Scanner, table string, found func(r *idempotency.Record, at time.Time)) (total Scanned, err error) {
	pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: &table,
		FilterExpression:          aws.String("NOT contains(id, :apart)"), // whether a record can be read, decode alone knows
		ExpressionAttributeValues: item{":apart": str("#")},
		ReturnConsumedCapacity:    types.ReturnConsumedCapacityTotal})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return total, fmt.Errorf("dynamostore: scan: %w", err)
		}
		total.Items += int(page.ScannedCount)
		if c := page.ConsumedCapacity; c != nil {
			total.ReadUnits += aws.ToFloat64(c.CapacityUnits)
		}
		at := serverTime(page.ResultMetadata)
		for _, it := range page.Items {
			if r := guess(it); !finished(r) {
				found(r, at)
			}
		}
	}
	return total, nil
}

// finished reports whether a record can be read, is no longer processing, and has no steps that wait for another attempt.
func finished(r *idempotency.Record) bool {
	if r.Fault != nil || !slices.Contains(idempotency.ReadableVersions(), r.Version) {
		return false
	}
	return r.Status == idempotency.Completed || r.Status == idempotency.Released && len(r.Steps) == 0
}
