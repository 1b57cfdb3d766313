package simulation

import (
	"encoding/json"
	"maps"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const (
	failure = "failed:" // what the guard records when compensation begins
	undoing = "undo:"
)

// stageLog is what a ledger knows of the stages of its record, however the store may lose them.
type stageLog struct {
	results map[string]string // of what is recorded since the claim
	commits map[string]int    // writes that were committed with a checkpoint, ever, by name
}

// begin forgets the stages of an earlier record.
func (g *stageLog) begin() { g.results = map[string]string{} }

// enterStage notes that a checkpoint took effect, and checks that it may: stages come one after the other, undos in
// reverse, all after the failure and none after another one.
func (w *world) enterStage(l *ledger, c *call) {
	step := c.op.checkpoint.Step
	if _, again := l.stages.results[step.Name]; again {
		w.violate("E1", "%v records %q again", c, step.Name)
	}
	if why := l.stages.outOfOrder(step.Name); why != "" {
		w.violate("E3", "%v records %q %s", c, step.Name, why)
	}
	l.stages.results[step.Name] = string(step.Result)
	c.attempt.known[step.Name] = string(step.Result)
	if len(c.op.checkpoint.Enlisted) > 0 {
		l.stages.commits[step.Name]++
	}
}

// outOfOrder says why a stage or an undo cannot be recorded now; "" where it can.
func (g *stageLog) outOfOrder(name string) string {
	_, failed := g.results[failure]
	taken := 0
	for ; g.has(stage(taken)); taken++ {
	}
	of, isUndo := strings.CutPrefix(name, undoing)
	switch {
	case name == failure && failed, name != failure && !isUndo && failed:
		return "after the failure"
	case name == failure:
		return ""
	case !isUndo && name != stage(taken):
		return "out of order"
	case !isUndo:
		return ""
	case !failed:
		return "before the failure"
	}
	for i := taken - 1; i >= 0 && stage(i) != of; i-- {
		if !g.has(undoing + stage(i)) {
			return "before a later stage is undone"
		}
	}
	return ""
}

func (g *stageLog) has(name string) bool {
	_, has := g.results[name]
	return has
}

// happened checks what a stage or an undo did, by what its attempt could know: what was recorded when it got its claim, and
// what it has recorded since.
func (w *world) happened(a *attempt, e effect) {
	recorded, known := a.known[e.stage]
	_, failed := a.known[failure]
	isUndo := strings.HasPrefix(e.what, undoing)
	switch {
	case e.what == "":
		var want string
		if err := json.Unmarshal([]byte(recorded), &want); err != nil || !known || want != e.got {
			w.violate("E2", "attempt %d gets %.40q for %s; recorded is %.40q", a.n, e.got, e.stage, recorded)
		}
		return
	case !isUndo && known:
		w.violate("E1", "attempt %d runs %s, which is recorded", a.n, e.what)
	case !isUndo && failed:
		w.violate("E1", "attempt %d runs %s after the failure", a.n, e.what)
	case isUndo && !known, isUndo && !failed:
		w.violate("E3", "attempt %d runs %s before the failure is recorded", a.n, e.what)
	case isUndo:
		of := stageLog{results: a.known}
		if _, again := a.known[e.what]; again {
			w.violate("E3", "attempt %d runs %s again", a.n, e.what)
		} else if why := of.outOfOrder(e.what); why != "" {
			w.violate("E3", "attempt %d runs %s %s", a.n, e.what, why)
		}
	}
	w.note("attempt %d: %s", a.n, e.what)
	w.count(a, isUndo)
}

// count keeps how often runs came to what stages are about.
func (w *world) count(a *attempt, isUndo bool) {
	switch {
	case isUndo && a.resumes:
		w.told["(an undo that goes on)"]++
	case isUndo:
		w.told["(an undo)"]++
	case len(a.known) > 0:
		w.told["(a stage after a recorded one)"]++
	}
}

// enterAnswer checks that the answer to an operation that failed for good is the one that was declared, and that everything
// is undone before it.
func (w *world) enterAnswer(l *ledger, c *call) {
	declared, failed := l.stages.results[failure]
	if !failed {
		return
	}
	var answer struct{ Body []byte }
	if err := json.Unmarshal([]byte(declared), &answer); err != nil || string(answer.Body) != string(c.op.completion.Response.Body) {
		w.violate("E4", "%v records %.60s, and declared was %.60s", c, c.op.completion.Response.Body, answer.Body)
	}
	for i := 0; l.stages.has(stage(i)); i++ {
		if !l.stages.has(undoing + stage(i)) {
			w.violate("E4", "%v records the answer, and %s is not undone", c, stage(i))
		}
	}
}

// checkStages compares the writes that stages enlisted with the checkpoints that took effect.
func (w *world) checkStages(items []map[string]types.AttributeValue) {
	found := map[string]map[string]int{}
	for _, item := range items {
		of, is := strings.CutPrefix(item["id"].(*types.AttributeValueMemberS).Value, "stages of ")
		if !is {
			continue
		}
		found[of] = map[string]int{}
		for name, v := range item {
			if n, isNumber := v.(*types.AttributeValueMemberN); isNumber {
				found[of][name], _ = strconv.Atoi(n.Value)
			}
		}
	}
	for _, l := range w.ledgers {
		if got := found[l.tenant+" "+l.key]; !maps.Equal(got, l.stages.commits) {
			w.violate("B3", "key %d: writes of stages %v, recorded %v", l.n, got, l.stages.commits)
		}
	}
}
