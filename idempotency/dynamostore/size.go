package dynamostore

import "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

// Sizes of items as DynamoDB counts them, rounded up where its documentation says "approximately":
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html

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
