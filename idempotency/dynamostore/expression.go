package dynamostore

import (
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/idempotency"
)

// The writes of the protocol as DynamoDB expressions. Each says the same as the Apply method of its write in package
// idempotency; the tests compare the two.

// expression is an update and the condition under which it is made.
type expression struct {
	update, condition string
	names             map[string]string
	values            item
}

// claimable: no record, or a finished one that has expired and that this code can read. A processing record is never
// replaced: its steps and fencing number must survive, and a live lease counts whatever its expiry says.
var claimable = "attribute_not_exists(id) OR (expires_at <= :before AND #status IN (:completed, :released) AND v IN (" +
	strings.Join(versionNames(), ", ") + "))"

var claimNames = map[string]string{"#status": "status"}

// versionNames are the placeholders of the schema versions that this code reads.
func versionNames() (names []string) {
	for _, v := range idempotency.ReadableVersions() {
		names = append(names, ":v"+strconv.Itoa(v))
	}
	return names
}

func claimValues(c idempotency.Claim) item {
	values := item{":before": num(c.Now.Add(-c.Skew).Unix()),
		":completed": str(string(idempotency.Completed)), ":released": str(string(idempotency.Released))}
	for i, name := range versionNames() {
		values[name] = num(idempotency.ReadableVersions()[i])
	}
	return values
}

// mine: this attempt still holds the claim.
const mine = "#owner = :me AND #status = :processing"

// owned is an update by the owner of the claim.
func owned(owner, update string, values item) expression {
	values[":me"], values[":processing"] = str(owner), str(string(idempotency.Processing))
	return expression{update: update, condition: mine, values: values,
		names: map[string]string{"#owner": "owner", "#status": "status"}}
}

// takeover: nothing has happened to the record since it was seen. For a processing record that includes its lease and its
// steps: a renewal or a checkpoint may have landed.
func takeover(t idempotency.Takeover) expression {
	e := expression{
		update:    "SET #owner = :me, epoch = :epoch, lease_until = :lease, #status = :processing, v = :v",
		condition: "#owner = :seen_owner AND epoch = :seen_epoch AND #status = :seen_status",
		names:     map[string]string{"#owner": "owner", "#status": "status"},
		values: item{
			":me": str(t.Owner), ":epoch": num(t.Epoch), ":lease": millis(t.LeaseUntil),
			":processing": str(string(idempotency.Processing)), ":v": num(idempotency.SchemaVersion),
			":seen_owner": str(t.Seen.Owner), ":seen_epoch": num(t.Seen.Epoch), ":seen_status": str(string(t.Seen.Status)),
		},
	}
	if t.Seen.Status == idempotency.Processing {
		e.condition += " AND lease_until = :seen_lease"
		e.values[":seen_lease"] = millis(t.Seen.LeaseUntil)
		e = e.afterSteps(len(t.Seen.Steps))
	}
	return e.expiring(t.ExpiresAt)
}

// afterSteps: the record has so many steps, none has come since. Steps are only added, so their number tells.
func (e expression) afterSteps(n int) expression {
	if n == 0 {
		e.condition += " AND attribute_not_exists(steps)"
		return e
	}
	e.condition += " AND size(steps) = :steps"
	e.values[":steps"] = num(n)
	return e
}

// checkpoint adds a step to those that the owner knows of.
func checkpoint(c idempotency.Checkpoint, step types.AttributeValue) expression {
	e := owned(c.Held.Owner, "SET steps.#step = :step", item{":step": step})
	e.names["#step"] = c.Step.Name
	n := len(c.Held.Steps)
	if n == 0 {
		e.update = "SET steps = :step"
		e.values[":step"] = &types.AttributeValueMemberM{Value: item{c.Step.Name: step}}
		delete(e.names, "#step")
	}
	return e.afterSteps(n)
}

// extend: the claim is held, with the lease that its owner knows: a late renewal must not shorten a newer one.
func extend(x idempotency.Extension) expression {
	e := owned(x.Owner, "SET lease_until = :lease", item{":lease": millis(x.LeaseUntil), ":known": millis(x.Known)})
	e.condition += " AND lease_until = :known"
	return e.expiring(x.ExpiresAt)
}

// expiring moves the expiry with the lease, so that TTL can never delete a live record. Zero removes it.
func (e expression) expiring(at time.Time) expression {
	if at.IsZero() {
		e.update += " REMOVE expires_at"
		return e
	}
	e.update += ", expires_at = :expires"
	e.values[":expires"] = seconds(at)
	return e
}

// release: the record stays, for its fingerprint and fencing number.
func release(r idempotency.Release) expression {
	return owned(r.Owner, "SET #status = :released, expires_at = :expires REMOVE lease_until",
		item{":released": str(string(idempotency.Released)), ":expires": seconds(r.ExpiresAt)})
}

// orphan: the lease ends now. The expiry stays.
func orphan(o idempotency.Orphaning) expression {
	e := owned(o.Owner, "SET lease_until = :orphaned", item{":orphaned": millis(idempotency.Orphaned())})
	if o.UndoFailures > 0 {
		e.update += ", undo_failures = :failures"
		e.values[":failures"] = num(o.UndoFailures)
	}
	return e
}

// complete records a response whose body stands in it, or in body items.
func complete(c idempotency.Completion, b body) expression {
	e := owned(c.Held.Owner, "SET #status = :completed, completed_at = :at, expires_at = :expires, "+
		"response_status = :response_status, response_headers = :response_headers", item{
		":completed": str(string(idempotency.Completed)), ":at": millis(c.CompletedAt), ":expires": seconds(c.ExpiresAt),
		":response_status": num(c.Response.Status), ":response_headers": b.header,
	})
	for name, value := range b.attributes() {
		e.update += ", " + name + " = :" + name
		e.values[":"+name] = value
	}
	e.update += " REMOVE lease_until, steps, undo_failures"
	return e
}

// transactUpdate is the expression as the action of a transaction.
func (e expression) transactUpdate(table *string, id string) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{TableName: table, Key: key(id),
		UpdateExpression: &e.update, ConditionExpression: &e.condition,
		ExpressionAttributeNames: maps.Clone(e.names), ExpressionAttributeValues: e.values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld}}
}

func str(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func num[T int | int64](n T) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(int64(n), 10)}
}
