package dynamostore

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/idempotency"
)

// Resolve settles an orphan for an operator, by one conditional UpdateItem after one PutItem for each body item. It
// returns an [*idempotency.RefusedError] with the record that stands where that is not the orphan any more that was seen.
func (s *Store) Resolve(ctx context.Context, w idempotency.Resolution) error {
	e := release(idempotency.Release{Owner: w.Owner, ExpiresAt: w.ExpiresAt})
	if w.Response != nil {
		c := w.Completion()
		b := prepare(c.Held, c.Response)
		if err := s.putBody(ctx, responseOf(c.Held), b, c.ExpiresAt); err != nil {
			return err
		}
		e = complete(c, b)
	}
	return s.update(ctx, "resolution", w.Seen.ID, resolve(w, e))
}

// resolve makes the update of a run that ends the update of an orphan: under the resolution's own token, if the record
// is the orphan that was seen.
func resolve(w idempotency.Resolution, end expression) expression {
	end.update = "SET #owner = :me, " + strings.TrimPrefix(end.update, "SET ")
	end.condition = "#status = :processing AND #owner = :seen_owner AND epoch = :seen_epoch AND lease_until = :seen_lease AND lease_until <= :now"
	end.values[":seen_owner"], end.values[":seen_epoch"] = str(w.Seen.Owner), num(w.Seen.Epoch)
	end.values[":seen_lease"], end.values[":now"] = millis(w.Seen.LeaseUntil), millis(w.At)
	return end
}

// Scanner is what [Unfinished] calls of the DynamoDB client.
type Scanner interface {
	Scan(context.Context, *dynamodb.ScanInput, ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error)
}

// Scanned is what a scan has read.
type Scanned struct {
	Items     int // records and body items
	ReadUnits float64
}

// Unfinished calls found with every processing record of a table, in no order. It reads the whole table, eventually
// consistently, at half a read unit for each 4 KB: for operators, not for requests. It needs dynamodb:Scan.
func Unfinished(ctx context.Context, client Scanner, table string, found func(*idempotency.Record)) (total Scanned, err error) {
	pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: &table,
		FilterExpression: aws.String("#status = :processing"), ExpressionAttributeNames: map[string]string{"#status": "status"},
		ExpressionAttributeValues: item{":processing": str(string(idempotency.Processing))},
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
		for _, it := range page.Items {
			found(decode(it))
		}
	}
	return total, nil
}
