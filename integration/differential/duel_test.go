package differential

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"
)

// duel sends the same calls to dynamofake and to a peer, each with the same tables.
type duel struct {
	t    *testing.T
	ours *endpoint
	peer *peer
	// plays makes the client request tokens of one play different from those of the next.
	plays int
	run   int64
}

// newDuel makes the tables; they are deleted when the test ends.
func newDuel(t *testing.T, p *peer) *duel {
	d := &duel{t: t, ours: inProcess(t, nil), peer: p, run: time.Now().UnixNano()}
	for _, e := range d.both() {
		for i := range tables {
			d.createTable(e, &tables[i])
		}
	}
	return d
}

func (d *duel) both() [2]*endpoint { return [2]*endpoint{d.ours, d.peer.endpoint} }

func (d *duel) createTable(e *endpoint, table *table) {
	if err := table.create(d.t.Context(), e, d.peer.features); err != nil {
		d.t.Fatal(err)
	}
	if e == d.ours || d.peer.start != nil {
		return // gone with the server
	}
	d.t.Cleanup(func() {
		if _, err := e.must(context.Background(), "DeleteTable", object{"TableName": table.name}); err != nil {
			d.t.Error(err)
		}
	})
}

// What is compared in the end takes the form of two more calls.
const (
	contents = "(the items of the table)"
	records  = "(the records of the streams)"
)

// exchange is a call with both answers.
type exchange struct {
	call
	ours, theirs reply
	// before are the exchanges that came before it.
	before []exchange
}

func (x exchange) String() string {
	return fmt.Sprintf("%v\n\tdynamofake: %v\n\tthe peer:   %v", x.call, x.ours, x.theirs)
}

// verdict is what came of one play.
type verdict struct {
	difference *difference
	compared   int // calls
	refused    int // calls that both servers refused
	// ended: a known fault let the tables go different ways, so the rest was not compared.
	ended bool
	faults
}

// play does the calls in both servers and compares. It begins and ends with empty tables.
func (d *duel) play(calls []call) verdict {
	d.plays++
	v := verdict{faults: faults{}}
	tails := [2]*tail{d.tail(d.ours), d.tail(d.peer.endpoint)}
	var done []exchange
	for _, c := range calls {
		x := d.exchange(c)
		x.before = done
		done = append(done, x)
		v.compared++
		if !x.ours.ok() && !x.theirs.ok() {
			v.refused++
		}
		if v.difference, v.ended = d.judge(x, v.faults); v.difference != nil || v.ended {
			break
		}
	}
	finals := []exchange{}
	for i := range tables {
		finals = append(finals, d.finish(&tables[i], done))
	}
	if crashed := len(done) > 0 && done[len(done)-1].theirs.code == crash; d.peer.streams && !crashed {
		finals = append(finals, d.readStreams(tails, done))
	}
	for _, x := range finals {
		if v.difference == nil && !v.ended {
			v.difference, v.ended = d.judge(x, v.faults)
		}
	}
	return v
}

// finish reads what is in the table in the end, and clears it.
func (d *duel) finish(t *table, done []exchange) exchange {
	x := exchange{call: call{op: contents, body: object{"TableName": t.name}}, before: done}
	for side, e := range d.both() {
		items, err := t.contents(d.t.Context(), e)
		if err == nil {
			err = t.clear(d.t.Context(), e, items)
		}
		if err != nil {
			d.t.Fatal(err)
		}
		*[2]*reply{&x.ours, &x.theirs}[side] = reply{status: 200, body: object{"Items": items}}
	}
	return x
}

func (d *duel) tail(e *endpoint) *tail {
	t, err := d.newTail(e)
	if err != nil {
		d.t.Fatal(err)
	}
	return t
}

// readStreams reads what was recorded, the clearing of the tables too, so that nothing of it shows up in the next play.
func (d *duel) readStreams(tails [2]*tail, done []exchange) exchange {
	patience := time.Duration(0)
	if d.peer.start == nil {
		patience = streamTime
	}
	err := tails[0].read(d.t.Context(), 0, 0)
	if err == nil {
		err = tails[1].read(d.t.Context(), tails[0].count, patience)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return exchange{
		call: call{op: records}, before: done,
		ours:   reply{status: 200, body: tails[0].records},
		theirs: reply{status: 200, body: tails[1].records},
	}
}

// exchange sends the call to both servers.
func (d *duel) exchange(c call) exchange {
	x := exchange{call: c}
	if token, ok := c.body["ClientRequestToken"].(string); ok {
		c.body = maps.Clone(c.body)
		c.body["ClientRequestToken"] = fmt.Sprintf("%s-%x-%d", token, d.run, d.plays)
	}
	var err error
	if x.ours, err = d.ours.do(d.t.Context(), c); err != nil {
		d.t.Fatalf("dynamofake: %v\n%v", err, c)
	}
	x.theirs, err = d.peer.do(d.t.Context(), c)
	switch {
	case err != nil && d.peer.start != nil:
		x.theirs = reply{code: crash}
		d.revive()
	case err != nil:
		d.t.Fatalf("%s: %v\n%v", d.peer.name, err, c)
	}
	return x
}

// crash is the code of the reply that a peer did not give because it crashed.
const crash = "crash"

// revive starts the peer anew, with empty tables.
func (d *duel) revive() {
	d.peer.url = d.peer.start()
	d.peer.streamsURL = d.peer.url
	for i := range tables {
		if err := tables[i].create(d.t.Context(), d.peer.endpoint, d.peer.features); err != nil {
			d.t.Fatal(err)
		}
	}
}
