package dynamostore

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"firstwriter/idempotency"
)

// TestGuess: what cannot be read as a record is still told as far as it goes, and nothing is made up: F33, F34.
func TestGuess(t *testing.T) {
	seen := *processing()
	for name, tt := range map[string]struct {
		change item // nil: removed
		want   func(*idempotency.Record)
	}{
		"readable":       {nil, func(*idempotency.Record) {}},
		"newer version":  {item{"v": num(2)}, func(r *idempotency.Record) { r.Version = 2 }},
		"no version":     {item{"v": nil}, func(r *idempotency.Record) { r.Version = 0 }},
		"no lease":       {item{"lease_until": nil}, func(r *idempotency.Record) { r.LeaseUntil = time.Time{} }},
		"text for times": {item{"created_at": str("today"), "expires_at": str("never")}, func(r *idempotency.Record) { r.CreatedAt, r.ExpiresAt = time.Time{}, time.Time{} }},
		"other types":    {item{"endpoint": num(1), "epoch": str("1"), "status": nil}, func(r *idempotency.Record) { r.Endpoint, r.Epoch, r.Status = "", 0, "" }},
		"a fraction":     {item{"epoch": &types.AttributeValueMemberN{Value: "1.5"}}, func(r *idempotency.Record) { r.Epoch = 0 }},
		"orphaned":       {item{"owner": nil, "lease_until": num(0)}, func(r *idempotency.Record) { r.LeaseUntil = idempotency.Orphaned() }},
	} {
		t.Run(name, func(t *testing.T) {
			it := encode(processing())
			for attribute, v := range tt.change {
				if v == nil {
					delete(it, attribute)
				} else {
					it[attribute] = v
				}
			}
			want := seen
			tt.want(&want)
			got := guess(it)
			if (got.Fault != nil) != (name != "readable" && name != "newer version") {
				t.Errorf("fault %v", got.Fault)
			}
			if diff := cmp.Diff(&want, got, cmp.Comparer(time.Time.Equal), cmpopts.IgnoreFields(idempotency.Record{}, "Fault", "Owner", "Fingerprint")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	if guess(nil) != nil {
		t.Error("no item is a record")
	}
}
