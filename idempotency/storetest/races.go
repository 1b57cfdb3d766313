package storetest

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"firstwriter/idempotency"
)

const (
	racers = 8
	rounds = 12
)

// checkRaces lets goroutines send writes at once of which exactly one can win: F01, F11, F86.
func checkRaces(p *probe) error {
	var wrong []error
	for range rounds {
		wrong = append(wrong, p.raceOfClaims(), p.raceOfTakeovers(), p.raceOfCompletions(), p.raceOfCheckpoints(), p.raceForTheLease())
	}
	return errors.Join(wrong...)
}

// race sends calls at once and returns the index of the only one that was accepted. Every other must be refused, with a
// record.
func (p *probe) race(calls []call) (winner int, err error) {
	start := make(chan struct{})
	results := make([]result, len(calls))
	var wg sync.WaitGroup
	for i, c := range calls {
		wg.Go(func() {
			<-start
			for results[i] = p.send(c); results[i].kind == busy; results[i] = p.send(c) {
				time.Sleep(time.Millisecond) // kept out: nothing has changed, so the call may be sent again
			}
		})
	}
	close(start)
	wg.Wait()
	winner = -1
	for i, r := range results {
		switch {
		case r.kind == accepted && winner < 0:
			winner = i
		case r.kind == accepted:
			return -1, fmt.Errorf("%s and %s are both accepted", calls[winner].name, calls[i].name)
		case r.kind != refused || r.record == nil:
			return -1, fmt.Errorf("%s: %v; want a refusal with a record", calls[i].name, r)
		}
	}
	if winner < 0 {
		return -1, fmt.Errorf("none of %d calls like %s is accepted", len(calls), calls[0].name)
	}
	return winner, nil
}

// won races calls and compares the record with what the winner leaves.
func (p *probe) won(old *idempotency.Record, calls []call) error {
	i, err := p.race(calls)
	if err != nil {
		return err
	}
	want, _ := calls[i].apply(old)
	return p.stands("a race won by "+calls[i].name, want)
}

func (p *probe) raceOfClaims() error {
	id := p.id()
	calls := make([]call, racers)
	for i := range calls {
		calls[i] = claim(newRecord(id, fmt.Sprint("racer ", i), p.t0), p.t0)
	}
	return p.won(nil, calls)
}

func (p *probe) raceOfTakeovers() error {
	seen := newRecord(p.id(), "A", p.t0)
	if err := p.play(claim(seen, p.t0)); err != nil {
		return err
	}
	calls := make([]call, racers)
	for i := range calls {
		calls[i] = p.takenBy(fmt.Sprint("racer ", i), &seen)
	}
	return p.won(&seen, calls)
}

// raceOfCompletions sends one completion several times, as retries do, each with a large body.
func (p *probe) raceOfCompletions() error {
	held := newRecord(p.id(), "A", p.t0)
	if err := p.play(claim(held, p.t0)); err != nil {
		return err
	}
	calls := make([]call, racers/2)
	for i := range calls {
		w := completion(held.ID, "A", p.t0.Add(time.Duration(i)*time.Second))
		w.Held, w.Response = &held, response("A", 5000)
		calls[i] = complete(w)
	}
	return p.won(&held, calls)
}

// raceOfCheckpoints sends one step several times, as retries do, beside a takeover by one who has not seen it.
func (p *probe) raceOfCheckpoints() error {
	held := newRecord(p.id(), "A", p.t0)
	if err := p.play(claim(held, p.t0), p.checkpoint(held.ID, "A", 0)); err != nil {
		return err
	}
	held.Steps = steps(1)
	calls := []call{p.takenBy("B", &held)}
	for range racers / 2 {
		calls = append(calls, p.checkpoint(held.ID, "A", 1))
	}
	return p.won(&held, calls)
}

// raceForTheLease: two takeovers, a completion and a release, each of which ends the others' chance.
func (p *probe) raceForTheLease() error {
	held := newRecord(p.id(), "A", p.t0)
	if err := p.play(claim(held, p.t0)); err != nil {
		return err
	}
	return p.won(&held, []call{
		p.takenBy("B", &held), p.takenBy("C", &held),
		complete(completion(held.ID, "A", p.t0)),
		release(idempotency.Release{ID: held.ID, Owner: "A", ExpiresAt: p.t0.Add(retention)}),
	})
}
