package sandbox

import (
	"encoding/json"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// record is one record of a stream.
type record struct {
	number string // sequence number
	at     time.Time
	event  events.DynamoDBEventRecord // as a function gets it
}

// convertRecord makes of a record what a function gets.
func convertRecord(r types.Record, arn string) record {
	d := r.Dynamodb
	out := record{number: aws.ToString(d.SequenceNumber), at: aws.ToTime(d.ApproximateCreationDateTime)}
	out.event = events.DynamoDBEventRecord{
		AWSRegion:      aws.ToString(r.AwsRegion),
		EventID:        aws.ToString(r.EventID),
		EventName:      string(r.EventName),
		EventSource:    aws.ToString(r.EventSource),
		EventVersion:   aws.ToString(r.EventVersion),
		EventSourceArn: arn,
		Change: events.DynamoDBStreamRecord{
			ApproximateCreationDateTime: events.SecondsEpochTime{Time: out.at},
			Keys:                        convertItem(d.Keys),
			NewImage:                    convertItem(d.NewImage),
			OldImage:                    convertItem(d.OldImage),
			SequenceNumber:              out.number,
			SizeBytes:                   aws.ToInt64(d.SizeBytes),
			StreamViewType:              string(d.StreamViewType),
		},
	}
	if by := r.UserIdentity; by != nil {
		out.event.UserIdentity = &events.DynamoDBUserIdentity{Type: aws.ToString(by.Type), PrincipalID: aws.ToString(by.PrincipalId)}
	}
	return out
}

func convertItem(item map[string]types.AttributeValue) map[string]events.DynamoDBAttributeValue {
	if item == nil {
		return nil
	}
	out := make(map[string]events.DynamoDBAttributeValue, len(item))
	for name, v := range item {
		out[name] = convertValue(v)
	}
	return out
}

func convertValue(v types.AttributeValue) events.DynamoDBAttributeValue {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return events.NewStringAttribute(v.Value)
	case *types.AttributeValueMemberN:
		return events.NewNumberAttribute(v.Value)
	case *types.AttributeValueMemberB:
		return events.NewBinaryAttribute(v.Value)
	case *types.AttributeValueMemberBOOL:
		return events.NewBooleanAttribute(v.Value)
	case *types.AttributeValueMemberSS:
		return events.NewStringSetAttribute(v.Value)
	case *types.AttributeValueMemberNS:
		return events.NewNumberSetAttribute(v.Value)
	case *types.AttributeValueMemberBS:
		return events.NewBinarySetAttribute(v.Value)
	case *types.AttributeValueMemberM:
		return events.NewMapAttribute(convertItem(v.Value))
	case *types.AttributeValueMemberL:
		list := make([]events.DynamoDBAttributeValue, len(v.Value))
		for i, e := range v.Value {
			list[i] = convertValue(e)
		}
		return events.NewListAttribute(list)
	}
	return events.NewNullAttribute()
}

// decoded is a record as JSON values, for filters.
func (r record) decoded() (v any, err error) {
	text, err := json.Marshal(r.event)
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	return v, err
}
