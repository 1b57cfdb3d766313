package emf

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"firstwriter/idempotency"
)

func TestEntries(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	for _, c := range []struct {
		name  string
		event idempotency.Event
		want  string
	}{
		{"first", idempotency.Event{Outcome: idempotency.OutcomeFirst, ID: "id", Endpoint: "POST /x", Status: 201, Duration: 1500 * time.Microsecond, Handler: time.Millisecond,
			Store: idempotency.Usage{Calls: 2, WriteUnits: 5}},
			`{"Duration":1.5,"Endpoint":"POST /x","HandlerDuration":1,"Outcome":"first","ReadUnits":0,"RecordID":"id","Requests":1,"StoreCalls":2,"UnitsEstimated":false,"WriteUnits":5,` +
				`"_aws":{"CloudWatchMetrics":[{"Namespace":"N","Dimensions":[["Outcome"],["Endpoint","Outcome"]],"Metrics":[{"Name":"Requests","Unit":"Count"},{"Name":"Duration","Unit":"Milliseconds"},` +
				`{"Name":"HandlerDuration","Unit":"Milliseconds"},{"Name":"StoreCalls","Unit":"Count"},{"Name":"WriteUnits","Unit":"Count"},{"Name":"ReadUnits","Unit":"Count"}]}],"Timestamp":1800000000000}}`},
		{"rejected", idempotency.Event{Outcome: idempotency.OutcomeRejected},
			`{"Duration":0,"Endpoint":"unknown","Outcome":"rejected","Requests":1,` +
				`"_aws":{"CloudWatchMetrics":[{"Namespace":"N","Dimensions":[["Outcome"],["Endpoint","Outcome"]],"Metrics":[{"Name":"Requests","Unit":"Count"},{"Name":"Duration","Unit":"Milliseconds"}]}],"Timestamp":1800000000000}}`},
	} {
		got, err := json.Marshal(New(nil, "N").entry(c.event, now))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n%s, want\n%s", c.name, err, got, c.want)
		}
	}
	undoing := New(nil, "N").entry(idempotency.Event{Outcome: idempotency.OutcomeUncompensated, UndoFailures: 3}, now)
	if undoing["UndoFailures"] != 3.0 || undoing["Outcome"] != "uncompensated" {
		t.Errorf("%v", undoing)
	}
	orphan := New(nil, "N").entry(idempotency.Event{Orphan: time.Minute}, now)
	aws, _ := json.Marshal(orphan["_aws"])
	if orphan["OrphanAge"] != 60.0 || !bytes.Contains(aws, []byte(`{"Namespace":"N","Dimensions":[[]],"Metrics":[{"Name":"OrphanAge","Unit":"Seconds"}]}`)) {
		t.Errorf("orphan's age is %v in %s", orphan["OrphanAge"], aws)
	}
}

func TestEndpointsAreBounded(t *testing.T) {
	e := New(nil, "N")
	seen := map[string]bool{}
	for i := range 1000 {
		seen[e.bounded(fmt.Sprint("POST /", i))] = true
	}
	if len(seen) != maxEndpoints+1 || !seen["other"] || e.bounded("POST /5") != "POST /5" {
		t.Errorf("%d endpoints, other: %v", len(seen), seen["other"])
	}
}

func TestLinesAreWhole(t *testing.T) {
	var out bytes.Buffer
	e := New(&out, "N")
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() { e.Observe(t.Context(), idempotency.Event{Outcome: idempotency.OutcomeReplay}) })
	}
	wg.Wait()
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	for _, line := range lines {
		if !json.Valid([]byte(line)) {
			t.Fatalf("line %q", line)
		}
	}
	if len(lines) != 50 {
		t.Errorf("%d lines", len(lines))
	}
}
