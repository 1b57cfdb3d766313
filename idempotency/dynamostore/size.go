package dynamostore

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/idempotency"
)

// Sizes of items as DynamoDB counts them, rounded up where its documentation says "approximately":
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html

// fixedSize is that of a processing record but for its texts.
var fixedSize = itemSize(encode(&idempotency.Record{Version: idempotency.SchemaVersion, Status: idempotency.Processing,
	Epoch: 1e12, LeaseUntil: time.UnixMilli(1e12), ExpiresAt: time.Unix(1e9, 0), CreatedAt: time.UnixMilli(1e12)})) +
	len("principal") + len("endpoint") + len("request_id")

// sizeOf is the size of a processing record, at most.
func sizeOf(r *idempotency.Record) int {
	return fixedSize + len(r.ID) + len(r.Owner) + len(r.Fingerprint) + len(r.Principal) + len(r.Endpoint) + len(r.RequestID)
}

func itemSize(it item) int {
	size := 0
	for name, v := range it {
		size += len(name) + valueSize(v)
	}
	return size
}

// valueSize knows the types that records use.
func valueSize(v types.AttributeValue) int {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return len(v.Value)/2 + 2
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberL:
		size := 3
		for _, e := range v.Value {
			size += 1 + valueSize(e)
		}
		return size
	case *types.AttributeValueMemberM:
		size := 3
		for name, e := range v.Value {
			size += 1 + len(name) + valueSize(e)
		}
		return size
	}
	return 1
}
