package integration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/idempotency"
	"firstwriter/idempotency/dynamostore"
	"firstwriter/integration/dynamofake"
)

// stages is a handler of several steps. Each puts an item of its own with its checkpoint, under a condition that it is
// not there yet.
type stages struct {
	names  []string
	size   int    // of each step's result
	breaks string // the step after which the handler fails
	runs   map[string]int
}

func (s *stages) handle(ctx context.Context) (*idempotency.Response, error) {
	var results []string
	for _, name := range s.names {
		result, err := idempotency.Step(ctx, name, func(ctx context.Context, step *idempotency.StepRun) (string, error) {
			s.runs[name]++
			return fmt.Sprint(name, s.runs[name], strings.Repeat(".", s.size)), dynamostore.Enlist(ctx, putOrder(step.Key()))
		})
		if err != nil {
			return nil, err
		}
		if results = append(results, result); s.breaks == name {
			return nil, errors.New("scripted")
		}
	}
	return &idempotency.Response{Status: 201, Body: []byte(strings.ReplaceAll(strings.Join(results, " "), ".", ""))}, nil
}

func (e *endpoint) stage(s *stages) *idempotency.Response {
	if s.runs == nil {
		s.runs = map[string]int{}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 28*time.Second)
	defer cancel()
	return e.guard.Serve(ctx, orderRequest("k", "1"), s.handle)
}

// TestStepCalls: what steps cost is one call each, and one more where a result is kept apart.
func TestStepCalls(t *testing.T) {
	for _, c := range []struct {
		name          string
		size          int
		calls, replay map[string]int
	}{
		{"small results", 10, map[string]int{"PutItem": 1, "TransactWriteItems": 3, "UpdateItem": 1}, nil},
		{"large results", 5000, map[string]int{"PutItem": 4, "TransactWriteItems": 3, "UpdateItem": 1}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEndpoint(t)
			s := &stages{names: []string{"reserve", "charge", "confirm"}, size: c.size}
			e.want("first", e.stage(s), 201, false, "reserve1 charge1 confirm1")
			if got := e.server.Stats().Calls; fmt.Sprint(got) != fmt.Sprint(c.calls) {
				t.Errorf("%v, want %v", got, c.calls)
			}
			e.want("again", e.stage(s), 201, true, "reserve1 charge1 confirm1")
		})
	}
}

// TestStepsOnDynamoDB: wherever a handler fails, its recorded steps do not run again, and what they enlisted is there
// once: F07, F08.
func TestStepsOnDynamoDB(t *testing.T) {
	for _, size := range []int{10, 300, 5000, 200_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			e := newEndpoint(t)
			s := &stages{names: []string{"reserve", "charge", "confirm"}, size: size}
			for n, name := range s.names {
				s.breaks = name
				e.want("breaks after "+name, e.stage(s), 500, false, "handler-failed")
				if e.orders() != n+1 {
					t.Errorf("%d items after %s", e.orders(), name)
				}
			}
			s.breaks = ""
			e.want("at last", e.stage(s), 201, false, "reserve1 charge1 confirm1")
			e.want("replay", e.stage(s), 201, true, "reserve1 charge1 confirm1")
			if e.orders() != 3 {
				t.Errorf("%d items", e.orders())
			}
			if it := e.item(t); it["steps"] != nil {
				t.Errorf("the completed record has steps: %v", it)
			}
		})
	}
}

// item is the endpoint's one record.
func (e *endpoint) item(t *testing.T) map[string]types.AttributeValue {
	t.Helper()
	out, err := e.client.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String(table), FilterExpression: aws.String("attribute_exists(v)")})
	if err != nil || len(out.Items) != 1 {
		t.Fatalf("%d records, %v", len(out.Items), err)
	}
	return out.Items[0]
}

// TestStepRefused: a business condition that refuses a step's write is an error that the handler can tell, and nothing is
// recorded.
func TestStepRefused(t *testing.T) {
	e := newEndpoint(t)
	for range 2 {
		r := e.guard.Serve(t.Context(), orderRequest("k", "1"), func(ctx context.Context) (*idempotency.Response, error) {
			_, err := idempotency.Step(ctx, "reserve", func(ctx context.Context, _ *idempotency.StepRun) (int, error) {
				never := putOrder("1")
				never.Put.ConditionExpression = aws.String("attribute_exists(pk)")
				return 1, dynamostore.Enlist(ctx, never)
			})
			if refused := (*idempotency.BusinessError)(nil); !errors.As(err, &refused) {
				t.Errorf("%v, want a BusinessError", err)
			}
			return &idempotency.Response{Status: 409, Body: []byte("out of stock")}, nil
		})
		e.want("refused", r, 409, r.Header.Get(idempotency.ReplayHeader) != "", "out of stock")
	}
	if got := e.server.Stats().Calls; got["TransactWriteItems"] != 1 || got["UpdateItem"] != 1 {
		t.Errorf("%v", got)
	}
}

// TestStepUnanswered: a checkpoint whose answer is lost is recorded all the same, with its writes, once: F63.
func TestStepUnanswered(t *testing.T) {
	for _, f := range []dynamofake.Fault{
		{Op: "TransactWriteItems", Nth: 1, Times: 1, Kind: "drop-ack"},
		{Op: "TransactWriteItems", Nth: 2, Times: 3, Kind: "drop-ack"},
		{Op: "TransactWriteItems", Nth: 2, Times: 2, Kind: "throttle"},
		{Op: "TransactWriteItems", Nth: 3, Times: 1, Kind: "error"},
	} {
		synctest.Test(t, func(t *testing.T) {
			e := newEndpoint(t)
			e.inject(f)
			s := &stages{names: []string{"reserve", "charge", "confirm"}}
			e.want(fmt.Sprint(f), e.stage(s), 201, false, "reserve1 charge1 confirm1")
			if e.orders() != 3 {
				t.Errorf("%v: %d items", f, e.orders())
			}
		})
	}
}

// declinedOrder reserves, charges and is declined by the shipper for good; then it takes back what it did. It counts what
// takes effect in the world, by the keys that its calls carry.
type declinedOrder struct {
	effects map[string]int
	keys    map[string]string
}

func (o *declinedOrder) effect(s *idempotency.StepRun) {
	o.effects[s.Name()]++
	o.keys[s.Key()] = s.Name()
}

func (o *declinedOrder) handle(ctx context.Context) (*idempotency.Response, error) {
	for _, name := range []string{"reserve", "charge"} {
		_, err := idempotency.Step(ctx, name, func(ctx context.Context, s *idempotency.StepRun) (int, error) {
			o.effect(s)
			return 1, dynamostore.Enlist(ctx, putOrder(name))
		}, idempotency.Undo(func(ctx context.Context, s *idempotency.StepRun, _ int) error {
			o.effect(s)
			return dynamostore.Enlist(ctx, putOrder(s.Name()))
		}))
		if err != nil {
			return nil, err
		}
	}
	idempotency.AttemptFrom(ctx).Compensate()
	return &idempotency.Response{Status: 402, Body: []byte("declined")}, nil
}

// TestCrashInCompensation ends the process before and after every store call of an operation that is undone, and then at
// every store call of the attempt after it. In the end each step and each undo is recorded once, under one key, and every
// caller gets the answer: F07, F08, F65.
func TestCrashInCompensation(t *testing.T) {
	const calls = 7 // of an attempt that comes to its end: claim, 2 steps, the failure, 2 undos, completion
	for first := range 2 * calls {
		for second := range 2 * calls {
			synctest.Test(t, func(t *testing.T) {
				e := newEndpoint(t)
				o := &declinedOrder{effects: map[string]int{}, keys: map[string]string{}}
				sound := e.guard
				for _, dies := range []int{first, second} {
					e.hinder(dying(dies))
					e.guard.Serve(t.Context(), orderRequest("k", "1"), o.handle)
					time.Sleep(40 * time.Second)
				}
				e.guard = sound
				for n := range 2 {
					r := e.guard.Serve(t.Context(), orderRequest("k", "1"), o.handle)
					e.want(fmt.Sprintf("dies at %d and %d, answer %d", first, second, n), r, 402, r.Header.Get(idempotency.ReplayHeader) != "", "declined")
				}
				if e.orders() != 4 || len(o.effects) != 4 || len(o.keys) != 4 {
					t.Errorf("dies at %d and %d: %d items, effects %v", first, second, e.orders(), o.effects)
				}
				for name, n := range o.effects {
					if n > 3 {
						t.Errorf("dies at %d and %d: %q took effect %d times", first, second, name, n)
					}
				}
			})
		}
	}
}

// dying is a process that ends at a store call: an even number before it, an odd number after it.
func dying(at int) *hindered {
	calls := 0
	return &hindered{
		before: func(string, int) error {
			if calls++; calls > at/2+1 || calls == at/2+1 && at%2 == 0 {
				return errDead
			}
			return nil
		},
		after: func(string, int) error {
			if calls == at/2+1 {
				return errDead
			}
			return nil
		},
	}
}

// TestStepItemsOutliveTheirRecord: a result that is kept apart is there for as long as an attempt may need it: F82.
func TestStepItemsOutliveTheirRecord(t *testing.T) {
	e := newEndpoint(t)
	e.want("breaks", e.stage(&stages{names: []string{"reserve"}, size: 5000, breaks: "reserve"}), 500, false, "handler-failed")
	out, err := e.client.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String(table)})
	if err != nil || len(out.Items) != 2 {
		t.Fatalf("%d items, %v", len(out.Items), err)
	}
	expires := map[bool]int64{}
	for _, it := range out.Items {
		var at int64
		fmt.Sscan(it["expires_at"].(*types.AttributeValueMemberN).Value, &at)
		expires[it["v"] != nil] = at
	}
	if record, result := expires[true], expires[false]; result < record+25*3600 || result > record+25*3600+60 {
		t.Errorf("the record expires at %d, the result %d s later; want a day and an hour", record, result-record)
	}
}

// TestStepsOutliveTheirRecord: the results that are kept apart from a record stay as long as the record does, however long
// its operation is tried again; and a released record stays as long as its steps would.
func TestStepsOutliveTheirRecord(t *testing.T) { // F85, F96
	synctest.Test(t, func(t *testing.T) {
		e := newEndpoint(t)
		_, err := e.client.UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{TableName: aws.String(table),
			TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("expires_at"), Enabled: aws.Bool(true)}})
		if err != nil {
			t.Fatal(err)
		}
		charges, undone := 0, 0
		handle := func(ctx context.Context) (*idempotency.Response, error) {
			_, err := idempotency.Step(ctx, "charge", func(context.Context, *idempotency.StepRun) (string, error) {
				charges++
				return strings.Repeat("x", 4000), nil
			}, idempotency.Undo(func(context.Context, *idempotency.StepRun, string) error {
				if undone++; undone < 9 {
					return errors.New("the provider is away")
				}
				return nil
			}))
			if err != nil {
				return nil, err
			}
			idempotency.AttemptFrom(ctx).Compensate()
			return &idempotency.Response{Status: 402, Body: []byte("declined")}, nil
		}
		for n := range 9 {
			ctx, cancel := context.WithTimeout(context.Background(), 28*time.Second)
			e.server.Reset()
			r := e.guard.Serve(ctx, orderRequest("k", "1"), handle)
			cancel()
			if told, cost := e.last.Load().Store.WriteUnits, e.server.Stats().WriteUnits; told != cost {
				t.Errorf("day %d: %v write units are told, and %v were used", 4*n, told, cost)
			}
			if want := map[bool]int{false: 500, true: 402}[n == 8]; r.Status != want || undone != n+1 || charges != 1 {
				t.Fatalf("day %d: %d %s, undone %d times, %d charges", 4*n, r.Status, r.Body, undone, charges)
			}
			time.Sleep(4 * 24 * time.Hour)
		}
	})
}
