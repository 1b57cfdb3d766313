package differential

import (
	"fmt"
	"slices"
	"strings"
)

// aspect is a part of an answer that is compared by itself.
type aspect string

const (
	aspectOutcome  aspect = "the outcome (status and error code)"
	aspectMessage  aspect = "the message"
	aspectAnswer   aspect = "the answer"
	aspectCapacity aspect = "the consumed capacity"
	aspectTables   aspect = "what is in the tables in the end"
	aspectStreams  aspect = "what is in the streams in the end"
	// aspectHidden does not show at once: the answers are the same, and the tables are not.
	aspectHidden aspect = "what is in the tables from now on"
)

// aspects lists what differs in two answers, of what can be compared with the peer. Messages of malformed requests are
// not compared: they are those of the service's JSON reader, documented nowhere.
func (p *peer) aspects(x exchange) []aspect {
	if x.ours.status != x.theirs.status || x.ours.code != x.theirs.code {
		return []aspect{aspectOutcome}
	}
	if x.op == contents || x.op == records {
		return x.finalAspect()
	}
	var out []aspect
	if p.messages && x.ours.message != x.theirs.message && x.ours.code != "SerializationException" {
		out = append(out, aspectMessage)
	}
	if text(x.ours.body) != text(x.theirs.body) {
		out = append(out, aspectAnswer)
	}
	if p.capacity && text(x.ours.capacity) != text(x.theirs.capacity) {
		out = append(out, aspectCapacity)
	}
	return out
}

// finalAspect is what differs in the end.
func (x exchange) finalAspect() []aspect {
	switch {
	case text(x.ours.body) == text(x.theirs.body):
		return nil
	case x.op == contents:
		return []aspect{aspectTables}
	}
	return []aspect{aspectStreams}
}

// judge compares two answers. A difference that a known fault explains is counted; ended tells that the tables may
// differ from now on.
func (d *duel) judge(x exchange, f faults) (unexplained *difference, ended bool) {
	for _, a := range d.peer.aspects(x) {
		diff, explained := d.excuse(&difference{exchange: x, aspect: a}, f)
		if diff != nil {
			return diff, false
		}
		changed := !x.reads() && (x.ours.ok() || x.theirs.ok()) && (a == aspectOutcome || a == aspectAnswer)
		ended = ended || explained && (changed || x.theirs.code == crash || a == aspectTables)
	}
	_, hidden := d.excuse(&difference{exchange: x, aspect: aspectHidden}, f)
	return nil, ended || hidden
}

// excuse looks for a known fault of the peer that explains the difference.
func (d *duel) excuse(diff *difference, f faults) (*difference, bool) {
	for _, known := range d.peer.faults {
		if slices.Contains(known.in, diff.aspect) && known.explains(diff.exchange) {
			f[known]++
			return nil, true
		}
	}
	return diff, false
}

// fault is something that a peer is known to do wrong, or not to have.
type fault struct {
	// in are the aspects in which it shows.
	in []aspect
	// rule is what the service does, and source the title of the page that says so.
	rule, source string
	// explains reports whether a difference is due to it. It is as narrow as can be.
	explains func(exchange) bool
}

// faults counts the differences that known faults explained.
type faults map[*fault]int

// tally sums up verdicts.
type tally struct {
	sequences, calls, refused, ended, unexplained int
	faults
}

func newTally() *tally { return &tally{faults: faults{}} }

func (t *tally) add(v verdict) {
	t.sequences++
	t.calls += v.compared
	t.refused += v.refused
	if v.ended {
		t.ended++
	}
	if v.difference != nil {
		t.unexplained++
	}
	for f, n := range v.faults {
		t.faults[f] += n
	}
}

// report shows the numbers, with the known faults that were met.
func (t *tally) report(known []*fault) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%d calls compared, %d of them refused by both; %d sequences ended early, at a known fault\n", t.calls, t.refused, t.ended)
	for _, f := range known {
		fmt.Fprintf(&out, "%6d times not: %s (%s)\n", t.faults[f], f.rule, f.source)
	}
	return out.String()
}
