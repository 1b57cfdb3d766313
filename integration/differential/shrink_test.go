package differential

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// difference is where a play failed.
type difference struct {
	exchange
	aspect aspect
}

// alike tells differences that look the same to whoever reads them.
func (d *difference) alike(e *difference) bool {
	return e != nil && d.aspect == e.aspect && d.op == e.op && d.ours.alike(e.ours) && d.theirs.alike(e.theirs)
}

func (r reply) alike(s reply) bool { return r.code == s.code && gist(r.message) == gist(s.message) }

// gist is a message without what it quotes.
func gist(message string) string {
	return message[:len(message)-len(strings.TrimLeft(message, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,;'()_"))]
}

// found is a difference with the calls that lead to it.
type found struct {
	*difference
	calls []call
}

func (f found) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s differs\n", f.aspect)
	for i, x := range f.before {
		fmt.Fprintf(&out, "%3d. %v\n", i+1, x.call)
	}
	fmt.Fprintf(&out, "%3d. %v", len(f.before)+1, f.exchange)
	return out.String()
}

// shrink looks for fewer and smaller calls that show the same difference: it leaves out calls, then members of calls.
func (d *duel) shrink(calls []call, was *difference) found {
	f := found{was, calls}
	if n := len(was.before); n < len(calls) {
		f.calls = calls[:n+1]
	}
	try := func(calls []call) {
		if v := d.play(calls); was.alike(v.difference) {
			f = found{v.difference, calls}
		}
	}
	for i := len(f.calls) - 1; i >= 0; i-- {
		try(slices.Delete(slices.Clone(f.calls), i, i+1))
	}
	for i := range f.calls {
		for _, member := range slices.Sorted(maps.Keys(f.calls[i].body)) {
			smaller := slices.Clone(f.calls)
			smaller[i] = smaller[i].without(member)
			try(smaller)
		}
	}
	return f
}
