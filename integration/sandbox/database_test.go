package sandbox

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// silentServer accepts connections and never answers.
func silentServer(t *testing.T) (url string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	return "http://" + ln.Addr().String()
}

// halfServer creates every table and never says that one can be used.
func halfServer(t *testing.T) (url string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".CreateTable") {
			_, _ = w.Write([]byte(`{}`))
			return
		}
		_, _ = w.Write([]byte(`{"Table":{"TableStatus":"CREATING"}}`))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestDatabaseThatDoesNotAnswer(t *testing.T) {
	// Well over limit, and well under the waits of the SDK.
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	const limit = 200 * time.Millisecond
	for name, url := range map[string]string{"silent": silentServer(t), "half": halfServer(t)} {
		secret := strings.Replace(url, "http://", "http://user:secret@", 1)
		err := setUpDatabase(ctx, services{region: localRegion, database: secret}, limit, shared.log, shared.template.tables)
		if want := "the database server at http://user:xxxxx@"; err == nil || ctx.Err() != nil || !strings.HasPrefix(err.Error(), want) ||
			!strings.HasSuffix(err.Error(), " was not ready within 200ms: does it speak DynamoDB's protocol?") {
			t.Errorf("%s: %v, want %s…", name, err, want)
		}
	}
}

func TestDatabaseThatRefuses(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	err := setUpDatabase(t.Context(), services{region: localRegion, database: s.URL}, time.Minute, shared.log, shared.template.tables)
	if err == nil || !strings.HasPrefix(err.Error(), "the database server at "+s.URL+": table sandbox-Items: ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
}

func TestInterruptedStartIsNotTheDatabasesFault(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := setUpDatabase(ctx, services{region: localRegion, database: silentServer(t)}, time.Minute, shared.log, shared.template.tables)
	if err == nil || strings.Contains(err.Error(), "was not ready") {
		t.Errorf("%v", err)
	}
}
