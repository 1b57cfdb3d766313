package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/idempotency"
	"firstwriter/idempotency/dynamostore"
	"firstwriter/integration/dynamofake"
)

const (
	secret  = "a secret of the key hash"
	key     = "key-7d1f"
	private = "private-body"
)

// desk is an operator's desk: a table, the guard that uses it, and the command.
type desk struct {
	t      *testing.T
	fake   *dynamofake.Server
	client *dynamodb.Client
	store  *dynamostore.Store
	guard  *idempotency.Guard
	url    string
	dates  []string // the Date of answers; nil: the true one
	env    map[string]string
	now    func() time.Time // of the operator's machine
}

func newDesk(t *testing.T) *desk {
	fake, client := dynamofake.Start(t)
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{TableName: aws.String("records"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}}})
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, fake: fake, client: client, store: dynamostore.New(client, "records"), now: time.Now,
		env: map[string]string{"IDEMPOTENCY_SECRET": secret, "IDEMPOTENCY_TABLE": "records"}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.dates != nil {
			w.Header()["Date"] = d.dates
		}
		fake.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	d.url = server.URL
	d.guard, err = idempotency.New(idempotency.Config{Store: d.store, Scope: func(*idempotency.Request) string { return "acme" },
		Namespace: "shop", Secret: []byte(secret), Orphans: idempotency.Refuse, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// serve sends the one request of these tests.
func (d *desk) serve(run idempotency.RunHandler) *idempotency.Response {
	r := &idempotency.Request{Method: "POST", Path: "/pay", Route: "POST /pay", Header: http.Header{idempotency.KeyHeader: {key}}}
	return d.guard.Serve(d.t.Context(), r, run)
}

func paid(context.Context) (*idempotency.Response, error) {
	return &idempotency.Response{Status: 201, Header: http.Header{"Location": {"/pay/1"}}, Body: []byte(private)}, nil
}

func lost(context.Context) (*idempotency.Response, error) { return nil, errors.New("nobody knows") }

// orphan leaves an orphan behind.
func (d *desk) orphan() string {
	d.t.Helper()
	if r := d.serve(lost); r.Status != 500 {
		d.t.Fatalf("%d %s", r.Status, r.Body)
	}
	return idempotency.RecordID("shop", []byte(secret), "acme", key)
}

// ctl runs the command. What it prints must never hold the key or the secret.
func (d *desk) ctl(stdin io.Reader, args ...string) (code int, out, err string) {
	d.t.Helper()
	var stdout, stderr bytes.Buffer
	if len(args) > 0 && args[0] != "id" && !strings.Contains(args[0], "help") {
		args = append(args, "--endpoint", d.url)
	}
	code = run(d.t.Context(), environment{in: bufio.NewReader(stdin), out: &stdout, err: &stderr, getenv: func(name string) string { return d.env[name] }, now: d.now}, args)
	if all := stdout.String() + stderr.String(); strings.Contains(all, key) || strings.Contains(all, secret) {
		d.t.Errorf("%v prints a key or the secret:\n%s", args, all)
	}
	return code, stdout.String(), stderr.String()
}

func (d *desk) want(code, want int, err string) {
	d.t.Helper()
	if code != want {
		d.t.Fatalf("exit status %d, want %d: %s", code, want, err)
	}
}

// TestIDIsTheGuards: the id of a key leads to the record that the guard made, bare or quoted, from an argument or from
// standard input: F50, F76.
func TestIDIsTheGuards(t *testing.T) {
	d := newDesk(t)
	d.serve(paid)
	code, id, stderr := d.ctl(strings.NewReader(`"`+key+`"`+"\n"), "id", "--scope", "acme", "--namespace", "shop", "--key", "-")
	d.want(code, 0, stderr)
	code, out, stderr := d.ctl(nil, "inspect", strings.TrimSpace(id), "--output", "json")
	d.want(code, 0, stderr)
	var v view
	if err := json.Unmarshal([]byte(out), &v); err != nil || v.State != stateCompleted || v.Endpoint != "POST /pay" || v.Response.Status != 201 {
		t.Errorf("%v: %s", err, out)
	}
	if strings.Contains(out, private) || strings.Contains(out, "/pay/1") {
		t.Errorf("header or body unasked: %s", out)
	}
	code, out, stderr = d.ctl(nil, "inspect", "--scope", "acme", "--namespace", "shop", "--key", key, "--show-body")
	d.want(code, 0, stderr)
	if !strings.Contains(out, private) || !strings.Contains(out, "Location: /pay/1") || !strings.Contains(out, strings.TrimSpace(id)) {
		t.Errorf("with --show-body: %s", out)
	}
	code, _, stderr = d.ctl(nil, "inspect", "--scope", "acme", "--key", key) // another namespace
	d.want(code, 1, stderr)
}

func TestResolveWithAResponse(t *testing.T) {
	d := newDesk(t)
	id := d.orphan()
	if r := d.serve(paid); r.Status != 409 {
		t.Fatalf("Refuse answers %d", r.Status)
	}
	file := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(file, []byte(`{"paid":true}`), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"resolve", id, "--status", "201", "--header", "Content-Type: application/json", "--body", file}
	code, _, stderr := d.ctl(strings.NewReader("n\n"), args...)
	d.want(code, 1, stderr)
	if !strings.Contains(stderr, "status 201\n  Content-Type: application/json\n  body of 13 bytes\n  | {\"paid\":true}\n") || !strings.Contains(stderr, "nothing was changed") {
		t.Errorf("said %s", stderr)
	}
	code, out, stderr := d.ctl(strings.NewReader("y\n"), args...)
	d.want(code, 0, stderr)
	if !strings.Contains(out, stateCompleted) || strings.Contains(out, `"paid"`) {
		t.Errorf("printed %s%s", out, stderr)
	}
	r := d.serve(lost)
	if r.Status != 201 || string(r.Body) != `{"paid":true}` || r.Header.Get("Content-Type") != "application/json" || r.Header.Get(idempotency.ReplayHeader) != "true" {
		t.Errorf("the retry gets %d %v %s", r.Status, r.Header, r.Body)
	}
	code, _, stderr = d.ctl(nil, append(args, "--yes")...)
	d.want(code, 1, stderr)
	if !strings.Contains(stderr, "it is completed") {
		t.Errorf("resolving twice says %s", stderr)
	}
}

func TestRerun(t *testing.T) {
	for _, args := range [][]string{{"release", "--yes"}, {"resolve", "--rerun", "--yes"}} {
		d := newDesk(t)
		id := d.orphan()
		code, out, stderr := d.ctl(nil, append(args, "--output", "json", id)...)
		d.want(code, 0, stderr)
		if !strings.Contains(out, `"state":"released"`) {
			t.Errorf("%v: %s", args, out)
		}
		if r := d.serve(paid); r.Status != 201 || r.Header.Get(idempotency.ReplayHeader) != "" {
			t.Errorf("%v: the retry gets %d", args, r.Status)
		}
	}
}

// changing is a standard input where something happens before the answer is typed.
type changing struct {
	before func()
	text   io.Reader
}

func (c *changing) Read(p []byte) (int, error) {
	c.before()
	c.before = func() {}
	return c.text.Read(p)
}

// TestChangesAreFenced: what has happened to the record since it was shown refuses the change.
func TestChangesAreFenced(t *testing.T) {
	d := newDesk(t)
	id := d.orphan()
	elsewhere := func() {
		code, _, stderr := d.ctl(nil, "resolve", id, "--status", "204", "--yes")
		d.want(code, 0, stderr)
	}
	code, _, stderr := d.ctl(&changing{elsewhere, strings.NewReader("yes\n")}, "release", id)
	d.want(code, 1, stderr)
	if !strings.Contains(stderr, "has changed since it was shown") || !strings.Contains(stderr, "it is completed") {
		t.Errorf("said %s", stderr)
	}
	if r := d.serve(paid); r.Status != 204 {
		t.Errorf("the retry gets %d, not what was recorded first", r.Status)
	}
}

// TestLostAcknowledgement: a change that was made and not acknowledged is told as made.
func TestLostAcknowledgement(t *testing.T) {
	d := newDesk(t)
	id := d.orphan()
	if err := d.fake.Inject(dynamofake.Fault{Op: "UpdateItem", Kind: dynamofake.FaultDropAck}); err != nil {
		t.Fatal(err)
	}
	code, out, stderr := d.ctl(nil, "release", id, "--yes")
	d.want(code, 0, stderr)
	if !strings.Contains(out, stateReleased) {
		t.Errorf("printed %s", out)
	}
}

// TestLiveRunsAreLeftAlone: a run that may still be going is not resolved, whatever the operator thinks of it.
func TestLiveRunsAreLeftAlone(t *testing.T) {
	d := newDesk(t)
	d.serve(func(context.Context) (*idempotency.Response, error) {
		id := idempotency.RecordID("shop", []byte(secret), "acme", key)
		code, _, stderr := d.ctl(nil, "release", id, "--yes")
		d.want(code, 1, stderr)
		if !strings.Contains(stderr, "may go on until") {
			t.Errorf("said %s", stderr)
		}
		code, out, stderr := d.ctl(nil, "inspect", id)
		d.want(code, 0, stderr)
		if !strings.Contains(out, stateLive) {
			t.Errorf("shows %s", out)
		}
		return paid(t.Context())
	})
}

func TestWatch(t *testing.T) {
	d := newDesk(t)
	d.serve(paid)
	now := time.Now()
	for id, age := range map[string]time.Duration{"old": time.Hour, "older": 2 * time.Hour, "new": 3 * time.Second, "running": 0} {
		lease := now.Add(-age).Add(500 * time.Millisecond)
		if id == "running" {
			lease = now.Add(time.Hour)
		}
		r := idempotency.Record{ID: id, Version: idempotency.SchemaVersion, Status: idempotency.Processing, Owner: "A", Epoch: now.Add(-age).UnixMilli(),
			Fingerprint: []byte("print"), LeaseUntil: lease, CreatedAt: now.Add(-age)}
		if err := d.store.Claim(t.Context(), idempotency.Claim{Record: r, Now: now, Skew: time.Second}); err != nil {
			t.Fatal(err)
		}
	}
	code, out, stderr := d.ctl(nil, "watch", "--older-than", "1m", "--output", "json")
	d.want(code, 0, stderr)
	var found stuck
	if err := json.Unmarshal([]byte(out), &found); err != nil {
		t.Fatal(err)
	}
	if len(found.Records) != 2 || found.Records[0].ID != "older" || found.Records[1].ID != "old" || found.Running != 1 || found.Scanned != 5 {
		t.Errorf("found %s", out)
	}
	code, out, stderr = d.ctl(nil, "watch")
	d.want(code, 0, stderr)
	if !strings.Contains(out, "3 stuck, 1 running; the whole table was scanned: 5 items") {
		t.Errorf("found %s", out)
	}
}

// TestUsage: mistakes are told in one line, with exit status 2, before anything is called.
func TestUsage(t *testing.T) {
	d := newDesk(t)
	id := strings.Repeat("i", idLength)
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"no command":         {nil, "name a command"},
		"no such command":    {[]string{"delete"}, "is no command"},
		"no such flag":       {[]string{"inspect", id, "--secret", "x"}, "not defined"},
		"no record":          {[]string{"inspect"}, "name the record"},
		"two records":        {[]string{"inspect", id, "--scope", "acme"}, "not by both"},
		"a key for an id":    {[]string{"inspect", "my-key"}, "43 characters"},
		"two ids":            {[]string{"inspect", id, "--output", "json", id}, "one id at most"},
		"bad key":            {[]string{"inspect", "--scope", "acme", "--key", "two words"}, "--key: "},
		"bad output":         {[]string{"inspect", id, "--output", "yaml"}, "neither text nor json"},
		"no response":        {[]string{"resolve", id}, "by --status"},
		"rerun and response": {[]string{"resolve", id, "--rerun", "--status", "200"}, "records no response"},
		"no body file":       {[]string{"resolve", id, "--status", "200", "--body", "/no/such/file"}, "no such file"},
		"body and question":  {[]string{"resolve", id, "--status", "200", "--body", "-"}, "add --yes"},
		"body and key":       {[]string{"resolve", "--scope", "acme", "--key", "-", "--status", "200", "--body", "-", "--yes"}, "cannot hold both"},
		"bad header":         {[]string{"resolve", id, "--status", "200", "--header", "novalue"}, "Name: value"},
		"no retention":       {[]string{"release", id, "--retention", "0s"}, "--retention"},
		"bad endpoint":       {[]string{"inspect", id, "--endpoint", "localhost"}, "--endpoint"},
		"watch one":          {[]string{"watch", id}, "use inspect"},
		"id of an id":        {[]string{"id", id}, "takes no argument"},
	} {
		t.Run(name, func(t *testing.T) {
			d := *d
			if name == "bad endpoint" {
				d.url = "localhost"
			}
			code, out, stderr := d.ctl(strings.NewReader(""), tt.args...)
			if code != 2 || out != "" || !strings.Contains(stderr, tt.want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("exit status %d, printed %q and %q, want %q", code, out, stderr, tt.want)
			}
		})
	}
	if calls := d.fake.Stats().Calls; calls["GetItem"]+calls["Scan"]+calls["UpdateItem"] > 0 {
		t.Errorf("called %v", calls)
	}
}

func TestHelp(t *testing.T) {
	d := newDesk(t)
	code, out, stderr := d.ctl(nil, "--help")
	d.want(code, 0, stderr)
	for name := range commands {
		if !strings.Contains(out, "idemctl "+name) {
			t.Errorf("--help does not name %s", name)
		}
		code, out, stderr := d.ctl(nil, name, "--help")
		d.want(code, 0, stderr)
		if !strings.HasPrefix(out, "usage: idemctl "+name) || !strings.Contains(out, "-output") {
			t.Errorf("%s --help prints %s", name, out)
		}
	}
}

func TestNoSuchTable(t *testing.T) {
	d := newDesk(t)
	for _, args := range [][]string{{"watch"}, {"inspect", strings.Repeat("i", idLength)}} {
		code, _, stderr := d.ctl(nil, append(args, "--table", "recrods")...)
		d.want(code, 1, stderr)
		if !strings.Contains(stderr, "see --table") {
			t.Errorf("%v says %s", args, stderr)
		}
	}
}

// TestStoreAway: a database that cannot be reached fails, and says what is not known.
func TestStoreAway(t *testing.T) {
	d := newDesk(t)
	id := d.orphan()
	if err := d.fake.Inject(dynamofake.Fault{Op: "UpdateItem", Kind: dynamofake.FaultError, Times: -1}); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := d.ctl(nil, "release", id, "--yes")
	d.want(code, 1, stderr)
	if !strings.Contains(stderr, "not known whether") {
		t.Errorf("said %s", stderr)
	}
}
