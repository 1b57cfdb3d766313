package outbox

import (
	"encoding/json"

	"github.com/aws/aws-lambda-go/events"
)

// Poison is an event that can never be published. The item is in the table too, by Keys, until it expires.
type Poison struct {
	Reason         string                                   `json:"reason"`
	EventID        string                                   `json:"event_id,omitempty"` // "" where it cannot be read
	Stream         string                                   `json:"stream"`             // ARN
	SequenceNumber string                                   `json:"sequence_number"`
	Keys           map[string]events.DynamoDBAttributeValue `json:"keys"`
	Item           map[string]events.DynamoDBAttributeValue `json:"item,omitempty"`
}

func (a arrival) poison(why error) Poison {
	return Poison{
		Reason:         why.Error(),
		EventID:        a.entry.ID,
		Stream:         a.record.EventSourceArn,
		SequenceNumber: a.record.Change.SequenceNumber,
		Keys:           a.record.Change.Keys,
		Item:           a.record.Change.NewImage,
	}
}

// Message is the poison as JSON, without the item where that would pass limit bytes.
func (p Poison) Message(limit int) (string, error) {
	text, err := json.Marshal(p)
	if err == nil && len(text) > limit && p.Item != nil {
		p.Item = nil
		text, err = json.Marshal(p)
	}
	return string(text), err
}
