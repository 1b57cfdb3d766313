package sandbox

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	eventsFile = "events.jsonl"
	maxEntries = 10        // of one PutEvents
	maxEvents  = 256 << 10 // bytes of one PutEvents, all entries together
)

// bus is as much of Amazon EventBridge as a publisher needs: PutEvents. It keeps what was published, and has no rules.
type bus struct {
	names  []string // the template's buses; "default" is there always
	events *journal[event]
}

// event is a published event as the sandbox lists it. ID is the detail's event_id, by which consumers tell duplicates;
// for an event without one it is the id that the bus gave.
type event struct {
	ID         string          `json:"id"`
	Source     string          `json:"source"`
	DetailType string          `json:"detail_type"`
	Time       string          `json:"time"` // RFC 3339
	Detail     json.RawMessage `json:"detail"`
}

// busEntry is one entry of PutEvents.
//
// Source: docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEventsRequestEntry.html
type busEntry struct {
	EventBusName string
	Source       string
	DetailType   string
	Detail       string
	Time         *float64 // Unix seconds
	Resources    []string
}

type busResult struct {
	EventID      string `json:"EventId,omitempty"`
	ErrorCode    string `json:"ErrorCode,omitempty"`
	ErrorMessage string `json:"ErrorMessage,omitempty"`
}

func (b *bus) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if target := r.Header.Get("X-Amz-Target"); target != "AWSEvents.PutEvents" {
		awsError(w, "UnknownOperationException", fmt.Sprintf("the sandbox has no such EventBridge call: %q", target))
		return
	}
	var in struct{ Entries []busEntry }
	if err := json.NewDecoder(io.LimitReader(r.Body, 4*maxEvents)).Decode(&in); err != nil {
		awsError(w, "SerializationException", "the body is not JSON")
		return
	}
	if complaint := checkRequest(in.Entries); complaint != "" {
		awsError(w, "ValidationException", complaint)
		return
	}
	out := struct {
		FailedEntryCount int
		Entries          []busResult
	}{}
	for _, e := range in.Entries {
		res := b.put(e, time.Now())
		if res.ErrorCode != "" {
			out.FailedEntryCount++
		}
		out.Entries = append(out.Entries, res)
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	_ = json.NewEncoder(w).Encode(out)
}

// checkRequest says what is wrong with a request as such.
func checkRequest(entries []busEntry) string {
	if len(entries) < 1 || len(entries) > maxEntries {
		return fmt.Sprintf("1 validation error detected: Value at 'entries' failed to satisfy constraint: Member must have length between 1 and %d", maxEntries)
	}
	total := 0
	for _, e := range entries {
		total += e.bytes()
	}
	if total >= maxEvents {
		return "Total size of the entries in the request is over the limit."
	}
	return ""
}

// bytes is the size of an entry by the documented rule.
func (e busEntry) bytes() int {
	n := len(e.Source) + len(e.DetailType) + len(e.Detail)
	if e.Time != nil {
		n += 14
	}
	for _, r := range e.Resources {
		n += len(r)
	}
	return n
}

// put takes one entry, or says why not.
func (b *bus) put(e busEntry, now time.Time) busResult {
	var detail map[string]json.RawMessage
	switch {
	case e.EventBusName != "" && e.EventBusName != "default" && !slices.Contains(b.names, e.EventBusName):
		return busResult{ErrorCode: "InvalidArgument", ErrorMessage: fmt.Sprintf("the template has no event bus %q", e.EventBusName)}
	case e.Source == "" || e.DetailType == "":
		return busResult{ErrorCode: "InvalidArgument", ErrorMessage: "Source and DetailType are needed."}
	case strings.HasPrefix(e.Source, "aws."):
		return busResult{ErrorCode: "NotAuthorizedForSourceException", ErrorMessage: "Not authorized for the source."}
	case json.Unmarshal([]byte(e.Detail), &detail) != nil || detail == nil:
		return busResult{ErrorCode: "MalformedDetail", ErrorMessage: "Detail is malformed."}
	}
	res := busResult{EventID: newUUID()}
	if err := b.events.add(e.event(res.EventID, detail, now)); err != nil {
		return busResult{ErrorCode: "InternalFailure", ErrorMessage: err.Error()}
	}
	return res
}

func (e busEntry) event(id string, detail map[string]json.RawMessage, now time.Time) event {
	if own := textMember(detail, "event_id"); own != "" {
		id = own
	}
	if e.Time != nil {
		now = time.UnixMilli(int64(*e.Time * 1000))
	}
	return event{ID: id, Source: e.Source, DetailType: e.DetailType, Time: now.UTC().Format(time.RFC3339), Detail: json.RawMessage(e.Detail)}
}

// published lists the events whose detail has a reference, or all for "", as they came, duplicates too.
func (b *bus) published(reference string) []event {
	out := []event{}
	for _, e := range b.events.list() {
		var detail map[string]json.RawMessage
		_ = json.Unmarshal(e.Detail, &detail) // it was an object when it came
		if reference == "" || textMember(detail, "reference") == reference {
			out = append(out, e)
		}
	}
	return out
}

// textMember is a member that is a string, or "".
func textMember(object map[string]json.RawMessage, name string) (text string) {
	_ = json.Unmarshal(object[name], &text) // what is no string stays ""
	return text
}
