package main

const (
	expressions = "idempotency/dynamostore/expression.go"
	writes      = "idempotency/write.go"
	decisions   = "idempotency/decide.go"
	guard       = "idempotency/guard.go"
	finish      = "idempotency/finish.go"
	attempt     = "idempotency/attempt.go"
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
	{"body items expire with their record", "idempotency/dynamostore/body.go", "seconds(c.ExpiresAt.Add(bodyOutlives))", "seconds(c.ExpiresAt)"},
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
	{"specification: takeover without the lease", writes, "seen.Status == Processing && !old.LeaseUntil.Equal(seen.LeaseUntil)", "false"},

	{"lease without the margin", attempt, "return ceilMillis(t.deadline.Add(t.guard.cfg.Skew))", "return ceilMillis(t.deadline)"},
	{"handler works until the lease ends", finish, "t.deadline.Add(-t.budget).Sub(now))", "t.deadline.Add(t.guard.cfg.Skew+time.Millisecond).Sub(now))"},
	{"fencing number restarts at one", guard, "Epoch: now.UnixMilli(),", "Epoch: 1,"},
	{"takeover keeps the fencing number", guard, "max(seen.Epoch+1, now.UnixMilli())", "seen.Epoch"},
	{"letting go always releases", finish, "if t.tookOrphan {\n\t\tt.orphan(ctx)", "if false {\n\t\tt.orphan(ctx)"},
	{"an unanswered claim runs", guard, "return nil, err\n\t}\n\treturn t.read(ctx)", "return nil, nil\n\t}\n\treturn t.read(ctx)"},
	{"a refused validation is told without a look", guard, "seen, err := t.read(ctx)\n\tif err != nil {\n\t\treturn *t.unavailable(ctx, err)", "return answer{outcome: OutcomeRejected, response: refusal}\n\tseen, err := t.read(ctx)\n\tif err != nil {\n\t\treturn *t.unavailable(ctx, err)"},
	{"a panic releases", finish, "if !returned {\n\t\t\tt.orphan(ctx)", "if !returned {\n\t\t\tt.release(ctx)"},
	{"an error releases", finish, "return t.doubt(ctx, a)\n}\n\n// failure", "return t.settle(ctx, t.release(ctx), a)\n}\n\n// failure"},
	{"own completion not recognised", finish, "if seen.completedBy(t.asker.Owner) {\n\t\treturn t.own(ctx, seen)\n\t}\n\td :=", "d :="},
	{"letting go blind to an own completion", finish, "refused.Record.completedBy(t.asker.Owner) {\n\t\treturn t.own(ctx, refused.Record)", "false {\n\t\treturn t.own(ctx, refused.Record)"},
	{"a fenced loser is told its own result", finish, "return t.lost(ctx, refused.Record)", "return answer{outcome: OutcomeFirst, response: r}"},
	{"an unanswered transaction is told as success", finish, "return t.lookUp(ctx, err)", "return answer{outcome: OutcomeFirst, response: r}"},
	{"an unanswered transaction is released", finish, "return t.lookUp(ctx, err)", "t.release(ctx)\n\t\treturn t.lookUp(ctx, err)"},
	{"recovery skipped", finish, "if t.tookOrphan && t.guard.cfg.Orphans == Recover {", "if false {"},
	{"cut-off handlers are recorded", finish, "if cut != nil && disposition == Keep {", "if false {"},
}
