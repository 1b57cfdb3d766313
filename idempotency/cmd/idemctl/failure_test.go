package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"

	"firstwriter/integration/dynamofake"
)

// TestExplained: the first line says what the service answered, the second has the whole chain.
func TestExplained(t *testing.T) {
	call := func(err error) error {
		return &smithy.OperationError{ServiceID: "DynamoDB", OperationName: "GetItem", Err: err}
	}
	for want, err := range map[string]error{
		"look: DynamoDB GetItem: AccessDenied: not yours": call(errors.Join(errors.New("long chain"), &smithy.GenericAPIError{Code: "AccessDenied", Message: "not yours"})),
		"look: DynamoDB GetItem: dial: refused":           call(&net.OpError{Op: "dial", Err: errors.New("refused")}),
		"look: DynamoDB GetItem: no answer within 30s":    call(context.DeadlineExceeded),
		"look: DynamoDB GetItem: something else":          call(errors.New("something else")),
		`"look: DynamoDB GetItem: Bad: \x1b[2J"`:          call(&smithy.GenericAPIError{Code: "Bad", Message: "\x1b[2J"}),
	} {
		brief, full, _ := strings.Cut(explain(fmt.Errorf("look: %w", err)), "\n")
		if brief != want || !strings.Contains(full, "operation error DynamoDB: GetItem") || strings.Contains(full, "\n") {
			t.Errorf("%q and %q, want %q", brief, full, want)
		}
	}
	if got := explain(errors.New("one\ntwo")); got != "one\ntwo" {
		t.Errorf("%q", got)
	}
}

// TestRefusedConnection: a database that is not there is told in a short line.
func TestRefusedConnection(t *testing.T) {
	d := newDesk(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	d.url = "http://" + l.Addr().String()
	code, _, stderr := d.ctl(nil, "inspect", strings.Repeat("i", idLength))
	d.want(code, 1, stderr)
	if first, _, _ := strings.Cut(stderr, "\n"); !strings.HasSuffix(first, "connection refused") || len(first) > 150 {
		t.Errorf("said %s", stderr)
	}
}

// TestWatchGoesOn: a look that fails is told, and the next one comes; the end of the watch is no failure.
func TestWatchGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var stderr bytes.Buffer
		looks, begin := 0, time.Now()
		again(ctx, environment{err: &stderr}, time.Minute, func() error {
			if looks++; looks == 3 {
				cancel()
				return ctx.Err()
			}
			return errors.New("throttled")
		})
		if looks != 3 || time.Since(begin) != 2*time.Minute || strings.Count(stderr.String(), "the next is in 1m0s: throttled") != 2 || strings.Contains(stderr.String(), "canceled") {
			t.Errorf("%d looks, said %s", looks, &stderr)
		}
	})
}

// silent never answers.
type silent struct{}

func (silent) Scan(ctx context.Context, _ *dynamodb.ScanInput, _ ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestPagesAreBounded: a page that is never answered ends the look in time.
func TestPagesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		_, err := look(t.Context(), environment{now: time.Now}, bounded{silent{}}, "records", 0)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != callBudget {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
	})
}

// TestWatchOnceFails: a single look that fails is the command's failure.
func TestWatchOnceFails(t *testing.T) {
	d := newDesk(t)
	if err := d.fake.Inject(dynamofake.Fault{Op: "Scan", Kind: dynamofake.FaultError, Times: -1}); err != nil {
		t.Fatal(err)
	}
	code, out, stderr := d.ctl(nil, "watch")
	d.want(code, 1, stderr)
	if out != "" || !strings.Contains(stderr, "DynamoDB Scan: InternalServerError") {
		t.Errorf("%s%s", out, stderr)
	}
}
