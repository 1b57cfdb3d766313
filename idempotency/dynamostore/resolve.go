package dynamostore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	smithy "github.com/aws/smithy-go/middleware"

	"firstwriter/idempotency"
)

// Resolve settles a record for an operator, by one conditional UpdateItem after one PutItem for each body item. It
// returns an [*idempotency.RefusedError] with the record that stands where that is not any more as it was seen.
func (s *Store) Resolve(ctx context.Context, w idempotency.Resolution) error {
	e := release(idempotency.Release{Owner: w.Owner, ExpiresAt: w.ExpiresAt})
	if w.Response != nil {
		c := w.Completion()
		b := prepare(c.Held, c.Response)
		if err := s.putBody(ctx, responseOf(c.Held), b, c.ExpiresAt); err != nil {
			return err
		}
		e = complete(c, b)
	}
	return s.update(ctx, "resolution", w.Seen.ID, resolve(w, e))
}

// seenSame: nobody has claimed the record since it was seen.
const seenSame = "#owner = :seen_owner AND epoch = :seen_epoch"

// resolve makes the update of a run that ends the update of a record that was seen: under the resolution's own token, if the
// record is that orphan still, or released with these steps.
func resolve(w idempotency.Resolution, end expression) expression {
	end.update = "SET #owner = :me, " + strings.TrimPrefix(end.update, "SET ")
	end.values[":seen_owner"], end.values[":seen_epoch"] = str(w.Seen.Owner), num(w.Seen.Epoch)
	if w.Seen.Status == idempotency.Released {
		delete(end.values, ":processing")
		end.values[":released"], end.values[":steps"] = str(string(idempotency.Released)), num(len(w.Seen.Steps))
		end.condition = seenSame + " AND #status = :released AND size(steps) = :steps" // without steps there is no size
		return end
	}
	end.condition = seenSame + " AND #status = :processing AND lease_until = :seen_lease AND lease_until <= :now"
	end.values[":seen_lease"], end.values[":now"] = millis(w.Seen.LeaseUntil), millis(w.At)
	return end.afterSteps(len(w.Seen.Steps))
}

// Look reads a record for a person, by a consistent GetItem, and tells the database's time: the answer's Date, in whole
// seconds, which is never later than now; zero where the answer has none. A record that cannot be read has a Fault or
// another Version, as in [Store.Get], and whatever else of it can be told all the same. A nil record: there is none.
func (s *Store) Look(ctx context.Context, id string) (r *idempotency.Record, at time.Time, err error) {
	out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: s.table, Key: key(id), ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, at, fmt.Errorf("dynamostore: read: %w", err)
	}
	return guess(out.Item), serverTime(out.ResultMetadata), nil
}

func serverTime(m smithy.Metadata) time.Time {
	at, _ := middleware.GetServerTime(m)
	return at
}

// guess decodes an item for people.
func guess(it item) *idempotency.Record {
	r := decode(it)
	if r == nil || r.Fault == nil && slices.Contains(idempotency.ReadableVersions(), r.Version) {
		return r
	}
	r.Status, r.Endpoint, r.RequestID, r.Principal = idempotency.Status(text(it["status"])), text(it["endpoint"]), text(it["request_id"]), text(it["principal"])
	r.Epoch, _ = whole(it["epoch"])
	r.LeaseUntil, r.CreatedAt, r.CompletedAt = instant(it["lease_until"], time.UnixMilli), instant(it["created_at"], time.UnixMilli), instant(it["completed_at"], time.UnixMilli)
	r.ExpiresAt = instant(it["expires_at"], func(n int64) time.Time { return time.Unix(n, 0) })
	return r
}

// text, whole and instant read an attribute as far as it can be read: what is missing or of a wrong type is zero.
func text(v types.AttributeValue) string {
	s, _ := v.(*types.AttributeValueMemberS)
	if s == nil {
		return ""
	}
	return s.Value
}

func whole(v types.AttributeValue) (n int64, ok bool) {
	d := decoder{item: item{"n": v}}
	n = d.num("n")
	return n, d.err == nil
}

func instant(v types.AttributeValue, of func(int64) time.Time) (t time.Time) {
	if n, ok := whole(v); ok {
		t = of(n)
	}
	return t
}
