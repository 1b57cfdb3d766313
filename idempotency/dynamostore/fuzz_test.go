package dynamostore

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"firstwriter/idempotency"
)

// FuzzDecode: whatever stands in the table, a record is sound in every attribute that its status needs, of a version that
// is left alone, or has a fault: F34.
func FuzzDecode(f *testing.F) {
	files, err := filepath.Glob("testdata/v*/*.json")
	if err != nil || len(files) == 0 {
		f.Fatalf("no golden records: %v", err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		it, err := attributevalue.UnmarshalMapJSON(b)
		if err != nil || it == nil {
			return
		}
		r := decode(it)
		if r.Fault != nil || r.Version != idempotency.SchemaVersion {
			return
		}
		if len(r.ID)*len(r.Owner) == 0 && (it["id"] == nil || it["owner"] == nil) {
			t.Errorf("sound without id or owner: %+v", r)
		}
		switch r.Status {
		case idempotency.Processing:
			if r.LeaseUntil.IsZero() || r.Response != nil {
				t.Errorf("processing: %+v", r)
			}
		case idempotency.Released:
			if r.ExpiresAt.IsZero() || r.Response != nil {
				t.Errorf("released: %+v", r)
			}
		case idempotency.Completed:
			if r.ExpiresAt.IsZero() || r.Response == nil || r.Response.Status < 100 || r.Body.Chunks < 0 || r.Body.Chunks > maxChunks {
				t.Errorf("completed: %+v", r)
			}
		default:
			t.Errorf("sound with status %q", r.Status)
		}
	})
}
