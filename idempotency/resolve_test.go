package idempotency

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var paid = &Response{Status: 201, Header: http.Header{"Content-Type": {"text/plain"}, "X": {"1"}}, Body: []byte("paid")}

var taken = []RecordedStep{{Name: "pay", Result: []byte(`"ch_1"`)}}

func TestNewResolution(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_999)
	orphan := func(change func(*Record)) *Record {
		r := &Record{ID: "id", Version: SchemaVersion, Status: Processing, Owner: "A", Epoch: 7, LeaseUntil: now}
		change(r)
		return r
	}
	for name, tt := range map[string]struct {
		seen     *Record
		response *Response
		want     string // in the error; "": none
		is       error
	}{
		"lease over":           {orphan(func(*Record) {}), paid, "", nil},
		"orphaned at once":     {orphan(func(r *Record) { r.LeaseUntil = Orphaned() }), nil, "", nil},
		"lease live":           {orphan(func(r *Record) { r.LeaseUntil = now.Add(time.Millisecond) }), paid, "may go on until", ErrNotOrphan},
		"no record":            {nil, paid, "there is no record", ErrNotOrphan},
		"completed":            {orphan(func(r *Record) { r.Status = Completed }), nil, "it is completed", ErrNotOrphan},
		"released":             {orphan(func(r *Record) { r.Status = Released }), nil, "it is released already", ErrNotOrphan},
		"released, response":   {orphan(func(r *Record) { r.Status = Released }), paid, "it is released already", ErrNotOrphan},
		"released, with steps": {orphan(func(r *Record) { r.Status, r.Steps = Released, taken }), paid, "", nil},
		"released, rerun":      {orphan(func(r *Record) { r.Status, r.Steps = Released, taken }), nil, "the next attempt may run", ErrNotOrphan},
		"with steps, damaged":  {orphan(func(r *Record) { r.Status, r.Steps, r.Fault = Released, taken, errors.New("no owner") }), paid, "no owner", ErrNotOrphan},
		"unknown version, F33": {orphan(func(r *Record) { r.Version = 99 }), nil, "schema version is 99", ErrNotOrphan},
		"damaged, F34":         {orphan(func(r *Record) { r.Fault = errors.New("owner is missing") }), nil, "owner is missing", ErrNotOrphan},
		"not recordable, F47":  {orphan(func(*Record) {}), &Response{Status: 200, Header: http.Header{"X": {"a\r\nb"}}}, "cannot carry", nil},
	} {
		_, err := NewResolution(tt.seen, tt.response, Clocks{Local: now, Store: now}, time.Hour)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	w, err := NewResolution(orphan(func(*Record) {}), paid, Clocks{Local: now, Store: now}, time.Hour)
	if err != nil || w.Response.Header.Get("Content-Type") != "text/plain" {
		t.Errorf("recorded headers %v, %v", w.Response.Header, err)
	}
	if w.ExpiresAt.Nanosecond() != 0 || w.ExpiresAt.Before(now.Add(time.Hour)) || w.Owner == "A" {
		t.Errorf("expires %v, owner %q", w.ExpiresAt, w.Owner)
	}
}

// TestReleasedUntil: letting an orphan go must not shorten the life of its steps.
func TestReleasedUntil(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	for name, tt := range map[string]struct {
		steps    []RecordedStep
		expires  time.Time
		response *Response
		want     time.Duration // from now on
	}{
		"no steps":            {nil, now.Add(7 * 24 * time.Hour), nil, time.Hour},
		"steps, as it was":    {taken, now.Add(7 * 24 * time.Hour), nil, 7 * 24 * time.Hour},
		"steps, longer":       {taken, now.Add(time.Minute), nil, time.Hour},
		"steps, no expiry":    {taken, time.Time{}, nil, LongRetention},
		"no steps, no expiry": {nil, time.Time{}, nil, time.Hour},
		"steps, a response":   {taken, now.Add(7 * 24 * time.Hour), paid, time.Hour},
	} {
		seen := &Record{Version: SchemaVersion, Status: Processing, Steps: tt.steps, ExpiresAt: tt.expires}
		w, err := NewResolution(seen, tt.response, Clocks{Local: now, Store: now}, time.Hour)
		if got := w.ExpiresAt.Sub(now); err != nil || got != tt.want {
			t.Errorf("%s: kept for %v, want %v, %v", name, got, tt.want, err)
		}
	}
	seen := &Record{Version: SchemaVersion, Status: Processing, Steps: taken}
	w, err := NewResolution(seen, nil, Clocks{Local: now}, 2*LongRetention)
	if err != nil || w.ExpiresAt.Sub(now) != 2*LongRetention {
		t.Errorf("a longer retention: kept until %v, %v", w.ExpiresAt, err)
	}
}

// TestResolutionsOfAllStates: of all states, a resolution settles the one that was seen and no other, and only where there is
// something to settle.
func TestResolutionsOfAllStates(t *testing.T) {
	at := time.UnixMilli(1_800_000_000_000)
	two := append(taken[:1:1], RecordedStep{Name: "ship"})
	var states []Record
	for _, status := range []Status{Processing, Released, Completed, "unheard-of"} {
		for _, steps := range [][]RecordedStep{nil, taken, two} {
			for _, owner := range []string{"A", "B"} {
				for _, epoch := range []int64{7, 8} {
					for _, lease := range []time.Time{at, at.Add(time.Millisecond), Orphaned()} {
						if status != Processing {
							lease = time.Time{}
						}
						states = append(states, Record{ID: "id", Version: SchemaVersion, Status: status, Owner: owner, Epoch: epoch, LeaseUntil: lease, Steps: steps})
					}
				}
			}
		}
	}
	states = slices.CompactFunc(states, func(a, b Record) bool { return reflect.DeepEqual(a, b) })
	accepted := 0
	for i := range states {
		for j := range states {
			for _, response := range []*Response{nil, paid} {
				seen, old := states[i], states[j]
				w := Resolution{Seen: &seen, Owner: "operator", Response: response, At: at, ExpiresAt: at.Add(time.Hour)}
				r, ok := w.Apply(&old)
				settles := seen.Status == Processing && !at.Before(seen.LeaseUntil) || seen.Status == Released && len(seen.Steps) > 0
				switch {
				case ok != (i == j && settles):
					t.Errorf("seen %+v, stands %+v: applied %v", seen, old, ok)
				case !reflect.DeepEqual(old, states[j]):
					t.Errorf("the record that stood is %+v now", old)
				case !ok:
				case response == nil && (r.Status != Released || len(r.Steps) != len(seen.Steps)), response != nil && (r.Status != Completed || r.Steps != nil):
					t.Errorf("%+v is resolved to %+v", seen, r)
				default:
					accepted++
				}
			}
		}
		if _, ok := (Resolution{Seen: &states[i], At: at}).Apply(nil); ok {
			t.Errorf("%+v was resolved when it was gone", states[i])
		}
	}
	// Processing: four owners and epochs, three numbers of steps, two leases that are over. Released: the same, but for no steps.
	if len(states) != 4*3*(3+3) || accepted != 2*(4*3*2+4*2) {
		t.Errorf("%d states, %d accepted", len(states), accepted)
	}
}

// TestResolutionFences: any change since the record was seen refuses the resolution.
func TestResolutionFences(t *testing.T) {
	at := time.UnixMilli(1_800_000_000_000)
	seen := Record{ID: "id", Version: SchemaVersion, Status: Processing, Owner: "A", Epoch: 7, LeaseUntil: at, Fingerprint: Fingerprint("print")}
	for name, change := range map[string]func(*Record){
		"taken over": func(r *Record) { r.Owner = "B" }, "token came back, F98": func(r *Record) { r.Epoch++ },
		"renewed": func(r *Record) { r.LeaseUntil = at.Add(time.Minute) }, "orphaned since": func(r *Record) { r.LeaseUntil = Orphaned() },
		"completed": func(r *Record) { r.Status = Completed }, "released": func(r *Record) { r.Status = Released },
		"a step since": func(r *Record) { r.Steps = taken },
	} {
		old := seen
		change(&old)
		for _, response := range []*Response{nil, paid} {
			w := Resolution{Seen: &seen, Owner: "operator", Response: response, At: at, ExpiresAt: at.Add(time.Hour)}
			if r, ok := w.Apply(&old); ok || r != &old {
				t.Errorf("%s: applied with response %v", name, response != nil)
			}
		}
	}
	early := Resolution{Seen: &seen, Owner: "operator", At: at.Add(-time.Millisecond)}
	if _, ok := early.Apply(&seen); ok {
		t.Error("applied while the lease is live")
	}
	done, ok := Resolution{Seen: &seen, Owner: "operator", Response: paid, At: at, ExpiresAt: at.Add(time.Hour)}.Apply(&seen)
	if !ok || done.Status != Completed || done.Owner != "operator" || done.Epoch != 7 || !done.LeaseUntil.IsZero() || string(done.Fingerprint) != "print" {
		t.Errorf("resolved to %+v", done)
	}
	if _, ok := (Completion{Held: &seen, Response: paid}).Apply(done); ok {
		t.Error("the old owner completes after the resolution")
	}
}

// TestResolveUnderRefuse: an orphan is answered outcome-unknown until an operator settles it, either way.
func TestResolveUnderRefuse(t *testing.T) {
	for name, response := range map[string]*Response{"recorded": paid, "released": nil} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				memory := &Memory{}
				x := newTrial(t, func(c *Config) { c.Store, c.Orphans = memory, Refuse })
				failing := func(context.Context) (*Response, error) { return nil, errors.New("no idea what happened") }
				x.want("first run", x.guard.Serve(t.Context(), post("k", "{}"), failing), 500, "handler-failed")
				x.want("before", x.serve(post("k", "{}")), 409, "outcome-unknown")

				seen, err := memory.Get(t.Context(), RecordID("", nil, "acme", "k"))
				if err != nil || seen == nil {
					t.Fatalf("the operator's id leads to %v, %v", seen, err)
				}
				w, err := NewResolution(seen, response, Clocks{Local: time.Now()}, DefaultRetention)
				if err := errors.Join(err, memory.Resolve(t.Context(), w)); err != nil {
					t.Fatal(err)
				}
				var refused *RefusedError
				if err := memory.Resolve(t.Context(), w); !errors.As(err, &refused) || !w.Landed(refused.Record) {
					t.Errorf("sent twice: %v", err)
				}
				r := x.serve(post("k", "{}"))
				if replayed := r.Header.Get(ReplayHeader) == "true"; r.Status != 201 || replayed != (response != nil) {
					t.Errorf("after: %d, replayed %v", r.Status, replayed)
				}
				x.want("another request", x.serve(post("k", "[]")), 422, "key-reused")
			})
		})
	}
}

// TestResolveReleasedWithSteps: what was answered 503 after a step, and was never asked for again, can be settled; a retry that
// came meanwhile refuses that.
func TestResolveReleasedWithSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := &Memory{}
		x := newTrial(t, func(c *Config) { c.Store = memory })
		status := 503
		run := func(ctx context.Context) (*Response, error) {
			_, err := Step(ctx, "pay", func(context.Context, *StepRun) (string, error) { return "ch_1", nil })
			return &Response{Status: status}, err
		}
		if r := x.guard.Serve(t.Context(), post("k", "{}"), run); r.Status != 503 {
			t.Fatalf("%d", r.Status)
		}
		prepare := func() Resolution {
			seen, err := memory.Get(t.Context(), RecordID("", nil, "acme", "k"))
			if err != nil || seen.Status != Released || len(seen.Steps) != 1 {
				t.Fatalf("%+v, %v", seen, err)
			}
			w, err := NewResolution(seen, paid, Clocks{Local: time.Now()}, DefaultRetention)
			if err != nil {
				t.Fatal(err)
			}
			return w
		}
		late := prepare()
		time.Sleep(time.Second)
		x.guard.Serve(t.Context(), post("k", "{}"), run) // takes it over, and releases it again
		if err := memory.Resolve(t.Context(), late); !errors.Is(err, ErrRefused) {
			t.Errorf("after a takeover: %v, want it refused", err)
		}
		if err := memory.Resolve(t.Context(), prepare()); err != nil {
			t.Fatal(err)
		}
		status = 500
		if r := x.guard.Serve(t.Context(), post("k", "{}"), run); r.Status != 201 || r.Header.Get(ReplayHeader) != "true" {
			t.Errorf("the retry gets %d", r.Status)
		}
	})
}

// TestOneWayToComputeIDs: what an operator computes is what the guard and Do use: F76.
func TestOneWayToComputeIDs(t *testing.T) {
	secret := []byte("sixteen bytes, at least")
	var used string
	g, err := New(Config{Store: &Memory{}, Scope: JWTClaim("tenant"), Namespace: "shop", Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	g.Serve(t.Context(), post(`"quoted key"`, "{}"), func(ctx context.Context) (*Response, error) {
		used = AttemptFrom(ctx).ID()
		return paid, nil
	})
	if got := RecordID("shop", secret, "acme", "quoted key"); got != used {
		t.Errorf("id %s, the guard's is %s", got, used)
	}
	if _, err := Do(t.Context(), g, Op{Name: "n", Scope: "acme", Key: "any, text"}, func(ctx context.Context) (int, error) {
		used = AttemptFrom(ctx).ID()
		return 0, nil
	}); err != nil || used != RecordID("shop", secret, "acme", "any, text") {
		t.Errorf("Do uses the id %s, %v", used, err)
	}
	ids := map[string]bool{used: true}
	for _, other := range []string{RecordID("", secret, "acme", "any, text"), RecordID("shop", nil, "acme", "any, text"),
		RecordID("shop", secret, "acm", "eany, text"), RecordID("shopa", secret, "cme", "any, text")} {
		if ids[other] {
			t.Errorf("%s is the id of two keys", other)
		}
		ids[other] = true
	}
}
