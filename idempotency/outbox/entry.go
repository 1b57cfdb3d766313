package outbox

import (
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Attributes of an event's item.
const (
	attrKey        = "order_key"
	attrID         = "id"
	attrSource     = "source"
	attrDetailType = "detail_type"
	attrTime       = "time"
	attrDetail     = "detail"
	attrExpires    = "expires_at"
)

// Entry is an event on its way to the bus.
type Entry struct {
	ID         string // the same each time that it is published
	Key        string // events of one key keep their order
	Source     string
	DetailType string
	Time       time.Time
	Detail     string // a JSON object with the id as its member event_id
}

// bytes is the size of the entry as EventBridge counts it.
//
// Source: docs.aws.amazon.com/eventbridge/latest/userguide/eb-putevents.html
func (e *Entry) bytes() int { return timeBytes + len(e.Source) + len(e.DetailType) + len(e.Detail) }

// item is the entry as it is stored.
func (e *Entry) item(expires time.Time) map[string]types.AttributeValue {
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	return map[string]types.AttributeValue{
		attrKey:        text(e.Key),
		attrID:         text(e.ID),
		attrSource:     text(e.Source),
		attrDetailType: text(e.DetailType),
		attrTime:       text(e.Time.UTC().Format(time.RFC3339Nano)),
		attrDetail:     text(e.Detail),
		attrExpires:    &types.AttributeValueMemberN{Value: strconv.FormatInt(expires.Unix(), 10)},
	}
}

// entryOf reads the new image of a stream record. The error says what is wrong with it.
func entryOf(image map[string]events.DynamoDBAttributeValue) (Entry, error) {
	var e Entry
	var at string
	for _, a := range []struct {
		name string
		to   *string
	}{{attrKey, &e.Key}, {attrID, &e.ID}, {attrSource, &e.Source}, {attrDetailType, &e.DetailType}, {attrTime, &at}, {attrDetail, &e.Detail}} {
		value, ok := image[a.name]
		if !ok || value.DataType() != events.DataTypeString {
			return e, fmt.Errorf("its item has no text in %s", a.name)
		}
		*a.to = value.String()
	}
	var err error
	if e.Time, err = time.Parse(time.RFC3339Nano, at); err != nil {
		return e, fmt.Errorf("its item has no RFC 3339 time in %s", attrTime)
	}
	return e, e.check()
}
