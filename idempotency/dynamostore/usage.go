package dynamostore

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/idempotency"
)

const (
	writeUnit = 1024 // bytes of an item that one write unit pays for
	readUnit  = 4096 // bytes of an item that one consistent read unit pays for
)

// spentWriting reports the cost of a write; nothing is reported for one that failed.
func spentWriting(ctx context.Context, reported *types.ConsumedCapacity) {
	u := idempotency.Usage{Calls: 1}
	if reported != nil {
		u.WriteUnits = aws.ToFloat64(reported.CapacityUnits)
	}
	idempotency.Spend(ctx, u)
}

// spentRefused reports the cost of a write whose condition failed, which DynamoDB does not report: as much as to write
// the item that stands.
func spentRefused(ctx context.Context, stands item) {
	idempotency.Spend(ctx, idempotency.Usage{Calls: 1, WriteUnits: units(itemSize(stands), writeUnit), Estimated: true})
}

// spentReading reports the cost of a consistent read.
func spentReading(ctx context.Context, reported *types.ConsumedCapacity, it item) {
	if reported != nil && reported.CapacityUnits != nil {
		idempotency.Spend(ctx, idempotency.Usage{Calls: 1, ReadUnits: *reported.CapacityUnits})
		return
	}
	idempotency.Spend(ctx, idempotency.Usage{Calls: 1, ReadUnits: units(itemSize(it), readUnit), Estimated: true})
}

// spentTransacting reports the cost of a transaction. What a cancelled one costs is not documented; it is counted as
// two units an action, the least that a committed one costs.
func spentTransacting(ctx context.Context, reported []types.ConsumedCapacity, actions int) {
	u := idempotency.Usage{Calls: 1}
	for _, r := range reported {
		if r.CapacityUnits != nil {
			u.WriteUnits += *r.CapacityUnits
		}
	}
	if len(reported) == 0 {
		u.WriteUnits, u.Estimated = float64(2*actions), true
	}
	idempotency.Spend(ctx, u)
}

// units rounds a size up to capacity units, at least one.
func units(size, unit int) float64 { return float64(max(1, (size+unit-1)/unit)) }
