package main

const (
	expressions = "idempotency/dynamostore/expression.go"
	writes      = "idempotency/write.go"
	decisions   = "idempotency/decide.go"
	guard       = "idempotency/guard.go"
	finish      = "idempotency/finish.go"
	attempt     = "idempotency/attempt.go"
	steplog     = "idempotency/steplog.go"
	undoing     = "idempotency/compensate.go"
	stepItems   = "idempotency/dynamostore/steps.go"
)

// mutations drop the protocol's conditions and turn its sentences round. Those of DynamoDB keep every placeholder in use,
// since the service refuses unused ones.
var mutations = []mutation{
	{"claim replaces any status", expressions, "#status IN (:completed, :released)", "(#status IN (:completed, :released) OR attribute_exists(#status))"},
	{"claim ignores the expiry", expressions, "expires_at <= :before AND", "(expires_at <= :before OR attribute_exists(id)) AND"},
	{"claim replaces unknown versions", expressions, `v IN (" +`, `attribute_exists(v) OR v IN (" +`},
	{"takeover from any owner", expressions, "#owner = :seen_owner AND", "(#owner = :seen_owner OR attribute_exists(id)) AND"},
	{"takeover at any epoch", expressions, "epoch = :seen_epoch AND", "(epoch = :seen_epoch OR attribute_exists(id)) AND"},
	{"takeover in any status", expressions, "#status = :seen_status\"", "(#status = :seen_status OR attribute_exists(id))\""},
	{"takeover at any lease", expressions, " AND lease_until = :seen_lease", " AND (lease_until = :seen_lease OR attribute_exists(id))"},
	{"takeover leaves the expiry", expressions, "e.update += \", expires_at = :expires\"", "e.update += \", expires_at = if_not_exists(expires_at, :expires)\""},
	{"owner's writes without the owner", expressions, "#owner = :me AND #status = :processing\"", "(#owner = :me OR attribute_exists(id)) AND #status = :processing\""},
	{"owner's writes in any status", expressions, "AND #status = :processing\"", "AND (#status = :processing OR attribute_exists(id))\""},
	{"owner's writes make a record", expressions, "const mine = \"#owner", "const mine = \"attribute_not_exists(id) OR #owner"},
	{"renewal blind to the lease", expressions, " AND lease_until = :known", " AND (lease_until = :known OR attribute_exists(id))"},
	{"release leaves the expiry", expressions, "SET #status = :released, expires_at = :expires", "SET #status = :released, expires_at = if_not_exists(expires_at, :expires)"},
	{"completion leaves the expiry", expressions, "completed_at = :at, expires_at = :expires, ", "completed_at = :at, expires_at = if_not_exists(expires_at, :expires), "},
	{"seconds for milliseconds", "idempotency/dynamostore/codec.go", "return num(t.UnixMilli())", "return num(t.Unix())"},
	{"body items expire with their record", "idempotency/dynamostore/body.go", "seconds(expires.Add(bodyOutlives))", "seconds(expires)"},
	{"business reasons read first", "idempotency/dynamostore/transact.go", "if code(reasons[0]) == reasonCondition {", "if code(reasons[0]) == reasonCondition && len(reasons) == 1 {"},

	{"decision without the version", decisions, "r.Fault != nil || !r.readable()", "r.Fault != nil"},
	{"decision without the expiry", decisions, "if r.expired(now, by.Skew) {", "if false && r.expired(now, by.Skew) {"},
	{"decision without its own claim", decisions, "if r.held(by.Owner) {", "if false && r.held(by.Owner) {"},
	{"decision without the principal", decisions, `by.Principal != "" && r.Principal`, `false && r.Principal`},
	{"fingerprint not compared after completion", decisions, "case !same:", "case !same && r.Status != Completed:"},
	{"fingerprint compared after completion only", decisions, "case !same:", "case !same && r.Status == Completed:"},
	{"taker does not wait for the lease", decisions, "now.Before(r.LeaseUntil)", "now.Before(r.LeaseUntil.Add(-by.Skew))"},
	{"Refuse takes over", decisions, "case by.Orphans == Refuse:", "case false:"},
	{"expiry without the margin", "idempotency/record.go", "!r.ExpiresAt.After(now.Add(-skew))", "!r.ExpiresAt.After(now)"},
	{"specification: completion without the owner", writes, "if !old.held(c.Held.Owner) {", "if old == nil || old.Status != Processing {"},
	{"specification: takeover without the lease", writes, "old.LeaseUntil.Equal(seen.LeaseUntil) && ", ""},

	{"lease without the margin", attempt, "return ceilMillis(t.deadline.Add(t.guard.cfg.Skew))", "return ceilMillis(t.deadline)"},
	{"handler works until the lease ends", finish, "t.deadline.Add(-t.budget).Sub(now))", "t.deadline.Add(t.guard.cfg.Skew+time.Millisecond).Sub(now))"},
	{"fencing number restarts at one", guard, "Epoch: now.UnixMilli(),", "Epoch: 1,"},
	{"takeover keeps the fencing number", guard, "max(seen.Epoch+1, now.UnixMilli())", "seen.Epoch"},
	{"letting go always releases", finish, "if t.tookOrphan {\n\t\tt.orphan(ctx)", "if false {\n\t\tt.orphan(ctx)"},
	{"an unanswered claim runs", guard, "return nil, err\n\t}\n\treturn t.read(ctx)", "return nil, nil\n\t}\n\treturn t.read(ctx)"},
	{"a refused validation is told without a look", guard, "seen, err := t.read(ctx)\n\tif err != nil {\n\t\treturn *t.unavailable(ctx, err)", "return answer{outcome: OutcomeRejected, response: refusal}\n\tseen, err := t.read(ctx)\n\tif err != nil {\n\t\treturn *t.unavailable(ctx, err)"},
	{"a panic releases", guard, "if !returned { // a panic of the endpoint's code, or runtime.Goexit\n\t\t\tt.orphan(ctx)", "if !returned {\n\t\t\tt.release(ctx)"},
	{"an error releases", finish, "return t.doubt(ctx, a)\n}\n\n// failure", "return t.settle(ctx, t.release(ctx), a)\n}\n\n// failure"},
	{"own completion not recognised", finish, "if seen.completedBy(t.asker.Owner) {\n\t\treturn t.mine(ctx, seen)\n\t}\n\td :=", "d :="},
	{"letting go blind to an own completion", finish, "refused.Record.completedBy(t.asker.Owner) {\n\t\treturn t.mine(ctx, refused.Record)", "false {\n\t\treturn t.mine(ctx, refused.Record)"},
	{"a fenced loser is told its own result", finish, "return t.lost(ctx, refused.Record)", "return answer{outcome: OutcomeFirst, response: r}"},
	{"an unanswered transaction is told as success", finish, "return t.lookUp(ctx, err)", "return answer{outcome: OutcomeFirst, response: r}"},
	{"an unanswered transaction is released", finish, "return t.lookUp(ctx, err)", "t.release(ctx)\n\t\treturn t.lookUp(ctx, err)"},
	{"recovery skipped", finish, "if t.tookOrphan && t.guard.cfg.Orphans == Recover &&", "if false &&"},
	{"cut-off handlers are recorded", finish, "if cut != nil && disposition == Keep {", "if false {"},

	{"checkpoint whatever steps there are", expressions, "size(steps) = :steps", "(size(steps) = :steps OR attribute_exists(id))"},
	{"first checkpoint whatever steps there are", expressions, "AND attribute_not_exists(steps)", "AND (attribute_not_exists(steps) OR attribute_exists(id))"},
	{"checkpoint without owner and status", expressions, "e := owned(c.Held.Owner, \"SET steps.#step = :step\", item{\":step\": step})", "e := owned(c.Held.Owner, \"SET steps.#step = :step\", item{\":step\": step})\n\te.condition = \"(\" + mine + \" OR attribute_exists(id))\""},
	{"takeover whatever steps there are", expressions, "e = e.afterSteps(len(t.Seen.Steps))", "_ = t.Seen.Steps"},
	{"release loses the steps", expressions, "expires_at = :expires REMOVE lease_until\",", "expires_at = :expires REMOVE lease_until, steps\","},
	{"orphaning loses the steps", expressions, "return e\n}\n\n// complete", "e.update += \" REMOVE steps\"\n\treturn e\n}\n\n// complete"},
	{"completion keeps the steps", expressions, "REMOVE lease_until, steps, undo_failures", "REMOVE lease_until, undo_failures"},
	{"a step is written over the others", expressions, "if n == 0 {\n\t\te.update", "if n >= 0 {\n\t\te.update"},
	{"results of steps expire with their record", stepItems, "*apart, c.Until)", "*apart, c.Until.Add(-bodyOutlives))"},
	{"results of steps share a place", stepItems, "stepOf(c.Held, c.Held.Owner), *apart", "stepOf(c.Held, \"\"), *apart"},
	{"specification: checkpoint without the owner", writes, "if !old.held(c.Held.Owner) || len(old.Steps)", "if old == nil || old.Status != Processing || len(old.Steps)"},
	{"specification: checkpoint without the status", writes, "if !old.held(c.Held.Owner) || len(old.Steps)", "if old == nil || old.Owner != c.Held.Owner || len(old.Steps)"},
	{"specification: checkpoint twice", writes, " || len(old.Steps) != len(c.Held.Steps) {", " {"},
	{"specification: takeover whatever steps there are", writes, " && len(old.Steps) == len(seen.Steps))", ")"},
	{"a recorded step runs again", steplog, "case n < len(recorded):\n\t\traw", "case false && n < len(recorded):\n\t\traw"},
	{"other steps are taken for the recorded ones", steplog, " && recorded[n].Name != name:", " && recorded[n].Name == \"\":"},
	{"steps after the failure run", steplog, "case compensating:\n\t\treturn nil, ErrCompensating", "case false && compensating:\n\t\treturn nil, ErrCompensating"},
	{"a failed step is recorded", steplog, "case failed != nil:", "case false && failed != nil:"},
	{"a fenced step goes on", steplog, "return t.giveUp(err)", "return nil"},
	{"a fenced step does not stop the handler", steplog, "t.stop()\n", "_ = t.stop\n"},
	{"a fenced handler is told its own result", finish, "if seen, yes := t.fenced(); yes {", "if seen, yes := t.fenced(); false && yes {"},
	{"an unanswered step is taken for recorded", steplog, "case len(seen.Steps) > n && seen.Steps[n].Name == s.Name:", "default:"},
	{"a step's writes go with the response", "idempotency/step.go", "if !ok || s.attempt != t {", "if !ok || s.attempt == t {"},
	{"an answer without the recorded steps", undoing, "missed := len(l.undos) < len(recorded)", "missed := false && len(l.undos) < len(recorded)"},
	{"undos before the failure is recorded", undoing, "if err := t.checkpoint(ctx, RecordedStep{Name: failedStep, Result: raw}, nil); err != nil {", "if err := error(nil); err != nil && raw == nil {"},
	{"undos in the order of the steps", undoing, "range slices.Backward(recorded)", "range slices.All(recorded)"},
	{"undo not recorded", undoing, "return t.checkpoint(ctx, RecordedStep{Name: name, Result: []byte(\"null\")}, s.end())", "return nil"},
	{"undone again", undoing, "undo == nil || done {", "undo == nil || false && done {"},
	{"an undo that failed is passed over", undoing, "s, raw); err != nil {\n\t\treturn err", "s, raw); err != nil {\n\t\treturn nil"},
	{"an attempt that goes on gives its own answer", undoing, "return r, t.undo(ctx)\n}\n\n// failedAnswer", "r = nil\n\treturn r, t.undo(ctx)\n}\n\n// failedAnswer"},
	{"an attempt that goes on commits what it enlisted", undoing, "if !t.compensate {", "if false && !t.compensate {"},
	{"a final failure is not kept", undoing, "t.compensate, t.disposition = true, Keep", "t.compensate = true"},
	{"recovery of what is being undone", finish, " && !t.record.Compensating()", ""},
	{"an undo that panics is not counted", undoing, "t.countFailure() // until", "_ = t // until"},
	{"released steps are forgotten", finish, "if len(t.record.Steps) > 0 {", "if false {"},
	{"results do not live as long as their record", "idempotency/dynamostore/steps.go", "expires.Before(until) && ", "false && expires.Before(until) && "},
	{"failed look-ups let go", "idempotency/attempt.go", "d == LetGo && !t.recovering", "d == LetGo"},
	{"a declared failure is undecided", "idempotency/attempt.go", "if t.record.Compensating() { // nothing", "if false { // nothing"},
	{"failures to undo are not counted", undoing, "t.record.UndoFailures + 1", "1"},
}
