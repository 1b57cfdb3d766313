package outbox

import (
	"fmt"
	"slices"

	"github.com/aws/aws-lambda-go/events"
)

// maxEntries is the limit of one request to EventBridge.
const maxEntries = 10

// change is what a stream record means for an outbox.
type change int

const (
	inserted change = iota // an event
	expired                // its item was deleted by TTL
	altered                // somebody else changed or deleted its item
)

// ttlPrincipal is who deletes by TTL.
//
// Source: docs.aws.amazon.com/amazondynamodb/latest/developerguide/time-to-live-ttl-streams.html
const ttlPrincipal = "dynamodb.amazonaws.com"

func changeOf(r events.DynamoDBEventRecord) change {
	if by := r.UserIdentity; by != nil && by.Type == "Service" && by.PrincipalID == ttlPrincipal {
		return expired
	}
	if r.EventName == string(events.DynamoDBOperationTypeInsert) {
		return inserted
	}
	return altered
}

// arrival is a stream record that is an event, or should be one.
type arrival struct {
	record events.DynamoDBEventRecord
	entry  Entry
	wrong  error // why it can never be published; nil: it can, for all we know
}

func arrivalOf(r events.DynamoDBEventRecord) arrival {
	e, err := entryOf(r.Change.NewImage)
	return arrival{record: r, entry: e, wrong: err}
}

// batchSize is how many arrivals go into one request: those up to the first that is too much for it, can never be
// published, or has the key of one before it. EventBridge promises no order within a request.
func batchSize(open []arrival) int {
	keys, bytes := map[string]bool{}, 0
	for i, a := range open {
		bytes += a.entry.bytes()
		if i == maxEntries || a.wrong != nil || keys[a.entry.Key] || i > 0 && bytes >= maxBytes {
			return i
		}
		keys[a.entry.Key] = true
	}
	return len(open)
}

func positionOf(a arrival, batch []arrival) int {
	return slices.IndexFunc(batch, func(b arrival) bool {
		return b.record.Change.SequenceNumber == a.record.Change.SequenceNumber
	})
}

// Answer is what the bus says to one entry: nothing, if it has it, or a code and a message.
type Answer struct{ Code, Message string }

func (a Answer) err() error { return fmt.Errorf("the bus answers %s: %s", a.Code, a.Message) }

// refusedAlone stands for ErrRefused of a request with one entry.
const refusedAlone = "RequestRefused"

type verdict int

const (
	published verdict = iota
	tryAgain
	never
)

// verdict tells refusals that are the entry's own fault from all others. Those are tried again: a missing permission is
// nothing that the events should pay for, on a source or detail type neither.
//
// Source: docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEventsResultEntry.html
func (a Answer) verdict() verdict {
	switch a.Code {
	case "":
		return published
	case "MalformedDetail", "InvalidArgument", refusedAlone:
		return never
	}
	return tryAgain
}
