// Package sandbox runs the project's SAM template on one machine: an API Gateway HTTP API with a JWT authorizer, the
// functions' real bootstrap binaries behind a local Lambda Runtime API, a database whose streams invoke functions, and
// fakes of the payment provider, of EventBridge and of SQS.
//
// Start is all that most callers need; integration/cmd/sandbox is a command around it. What happens to a request is in
// gateway.go, from top to bottom; how processes are started, used again and killed is in pool.go and instance.go; how a
// stream invokes a function is in delivery.go.
//
// It is faithful where a client or a function could tell the difference: the events (payload format 2.0), the answers
// of the gateway itself, its limits, crashes, timeouts and cold starts. It is no model of AWS's latency, scaling or IAM:
// policies are not checked, and a process is not frozen between requests. A request that is no HTTP for Go's net/http,
// such as GET /payments/%, is refused by that package, in plain text and without the gateway's headers. What it does
// not support in a template it refuses, with the line.
//
// Everything listens on loopback addresses. The control routes under /_sandbox/ (control.go) hand out tokens, list the
// provider's charges, kill processes and make database calls fail.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"firstwriter/integration/dynamofake"
)

// What the local issuer and audience are called where the template asks for them. Nothing is fetched from there.
const (
	localIssuer   = "https://issuer.sandbox.invalid"
	localAudience = "sandbox"
)

// Sandbox is a running template.
type Sandbox struct {
	cfg      Config
	log      *logger
	launcher *launcher
	template *template
	psp      *psp
	bus      *bus
	queues   *queues
	stock    *stock // nil: the template has no such table
	issuer   *issuer
	fake     *dynamofake.Server // nil with another database server
	services services
	pools    map[string]*pool
	timings  *timings
	url      string

	closing sync.Once
	undo    []func() error // in the order of doing
	closed  error
}

// Start builds and starts everything and returns when the first request can be served. ctx bounds the start alone; the
// sandbox runs until Close.
func Start(ctx context.Context, cfg Config) (*Sandbox, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	s := &Sandbox{cfg: cfg, log: &logger{to: cfg.Log}, launcher: newLauncher(), pools: map[string]*pool{}, timings: &timings{}}
	s.onClose(func() error { s.launcher.close(); return nil })
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("sandbox: %w", err), s.Close())
	}
	return s, nil
}

func (s *Sandbox) onClose(undo func() error) { s.undo = append(s.undo, undo) }

// Close stops everything: the API first, then the functions' processes, then what they talk to. It waits until all of
// it is over.
func (s *Sandbox) Close() error {
	s.closing.Do(func() {
		var errs []error
		for i := len(s.undo) - 1; i >= 0; i-- {
			errs = append(errs, s.undo[i]())
		}
		s.closed = errors.Join(errs...)
	})
	return s.closed
}

// URL is where the API is served, such as "http://127.0.0.1:3000", without a slash at the end.
func (s *Sandbox) URL() string { return s.url }

// Token signs a token for the API with the claims tenant_id and sub, good for 12 hours. An empty value leaves its claim
// out.
func (s *Sandbox) Token(tenant, sub string) (string, error) {
	t, err := s.issuer.token(tenant, sub, time.Now())
	if err != nil {
		return "", fmt.Errorf("sandbox: token: %w", err)
	}
	return t, nil
}

// DatabaseURL is where the functions find the database.
func (s *Sandbox) DatabaseURL() string { return s.services.database }

// Table is the name of the table with a logical id of the template, "" where there is none.
func (s *Sandbox) Table(id string) string {
	for _, t := range s.template.tables {
		if t.id == id {
			return t.name
		}
	}
	return ""
}

// Database is the built-in database, or nil where another server is used.
func (s *Sandbox) Database() *dynamofake.Server { return s.fake }

// Routes lists the API's routes as "POST /payments", in the template's order.
func (s *Sandbox) Routes() []string {
	var out []string
	for _, rt := range s.template.routes {
		out = append(out, rt.key)
	}
	return out
}
