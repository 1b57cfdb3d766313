package idempotency

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Defaults of [Config].
const (
	DefaultLease     = 30 * time.Second
	DefaultSkew      = 2 * time.Second
	DefaultRetention = 24 * time.Hour
	DefaultMaxBody   = 1 << 20 // bytes
)

// Hook looks at a request before its key is looked up. A response refuses it, nil lets it go on.
type Hook func(context.Context, *Request) *Response

// Config is what a [Guard] is made from. Store and Scope are required; the zero value of every other field is the
// default that its comment gives.
type Config struct {
	// Store keeps the records.
	Store Store
	// Scope names whose keys a request uses: the tenant, the account, the API key's id. Two scopes never meet each
	// other's keys. A request without a scope is refused with 403 before any lookup.
	Scope CallerFunc
	// Principal names who may see a replay, where a scope has several users: a record made by one principal is
	// answered to another with 403. Default: everybody of the scope. A request without a principal is refused. Where it is
	// added to an endpoint, or its values change, records made before are answered with 403 until they expire.
	Principal CallerFunc

	// Namespace keeps applications apart that share a table. Changing it makes every key new.
	Namespace string
	// Secret, of at least 16 bytes, makes record ids unguessable (HMAC-SHA-256). Without it, whoever reads the table
	// can try out scopes and keys that are easy to guess. Changing it makes every key new.
	Secret []byte

	// Methods are guarded; others pass through untouched. Default: POST, PATCH.
	Methods []string
	// OptionalKey lets a request without a key run unguarded, where others answer 400.
	OptionalKey bool
	// QuotedKeys accepts a key only as a structured-field string, between double quotes (RFC 9651). Default: bare keys too.
	QuotedKeys bool
	// KeyFormat reports whether a key has the endpoint's own format, a UUID say. Default: every key does.
	KeyFormat func(key string) bool
	// MaxBody is the largest request body, in bytes; a larger one is answered 413 before it is hashed. Default 1 MiB.
	MaxBody int
	// Authorize decides on every request, before every lookup, who the caller is and what he may do. It must not ask
	// whether the operation would succeed now (balances, limits): a retry must get its replay.
	Authorize Hook
	// Validate refuses requests that can never succeed, before they use up their key. Where it refuses, a record that
	// exists still decides: a retry gets its replay even if the rules have changed since.
	Validate Hook

	// Fingerprint says which part of a request's body tells it apart from others. Default: all of it, JSON by meaning.
	Fingerprint Selection
	// FormerFingerprints are selections of earlier releases, kept as long as records made by them live.
	FormerFingerprints []Selection

	// Disposition says what becomes of the claim after a response. Default: [DispositionByStatus].
	Disposition func(*Response) Disposition
	// Orphans says what happens after an attempt whose outcome nobody knows. Default: [Rerun].
	Orphans OrphanPolicy
	// Recover is called under the policy of that name, with the claim held, when an earlier attempt's outcome is not
	// known; [Attempt.Request] tells what was asked for. It returns the response of the operation if that took effect, or
	// nil to run the handler. A response that is not recorded (a 503, say, because the look-up failed), or an error, leaves
	// the outcome unknown: the next attempt looks again.
	Recover RunHandler

	// Lease is how long a run may take where the context has no deadline; otherwise the deadline ends the lease.
	// Default 30 s.
	Lease time.Duration
	// MaxRun is how long a run may take where the context has no deadline: beyond Lease, the lease is renewed while the
	// handler runs. A run whose lease cannot be renewed has its context cancelled. Default: Lease, without renewal.
	MaxRun time.Duration
	// Skew is the greatest difference between the clocks of two machines that the lease relies on. Beyond it two
	// handlers may overlap; recorded results stay right all the same. Default 2 s.
	Skew time.Duration
	// Retention is how long a finished record answers retries, from its completion. It should be at least as long as
	// clients may retry, and as the slowest provider behind the handler remembers keys. Default 24 h.
	Retention time.Duration
	// Wait is how long a duplicate waits for the first run's response before it is answered 409. Default: not at all.
	Wait time.Duration

	// OnReplay may add headers to a response that is replayed: a fresh rate-limit header, say. It gets a copy.
	OnReplay func(*Request, *Response)

	// ProblemType is put before the code in the "type" of problem documents. Default "urn:problem-type:idempotency:".
	ProblemType string
	// Docs is the address of the endpoint's documentation of keys, for the Link header of key-missing.
	Docs string
	// Status may change the status of a situation; the code stays.
	Status func(code string, status int) int

	// Logger gets what an operator must know. Records are named by id; keys, tokens and bodies are never logged.
	// Default: [slog.Default].
	Logger *slog.Logger
	// Observe gets one event for each request, before the answer goes out. It must not block.
	Observe func(context.Context, Event)
	// Now is the clock, for tests. Default: [time.Now].
	Now func() time.Time
}

// Guard makes handlers take effect once per idempotency key. Make one with [New]; it is safe for concurrent use.
//
// A record's id is the base64url form of SHA-256 over the length-prefixed namespace, scope and key (HMAC-SHA-256 where
// [Config.Secret] is set). Method and path are no part of it: the same key on another endpoint is answered 422, through
// the fingerprint.
type Guard struct {
	cfg          Config
	hasher       hasher
	fingerprints *fingerprinter
}

// New checks a configuration and makes a guard. The error names every field that is wrong, and why.
func New(c Config) (*Guard, error) {
	if c.Methods == nil {
		c.Methods = []string{http.MethodPost, http.MethodPatch}
	}
	c.MaxBody = orDefault(c.MaxBody, DefaultMaxBody)
	c.Lease = orDefault(c.Lease, DefaultLease)
	c.MaxRun = orDefault(c.MaxRun, c.Lease)
	c.Skew = orDefault(c.Skew, DefaultSkew)
	c.Retention = orDefault(c.Retention, DefaultRetention)
	c.ProblemType = orDefault(c.ProblemType, "urn:problem-type:idempotency:")
	c.Logger = orDefault(c.Logger, slog.Default())
	if c.Disposition == nil {
		c.Disposition = DispositionByStatus
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	fingerprints, err := newFingerprinter(c.Fingerprint, c.FormerFingerprints)
	if err := errors.Join(c.check(), err); err != nil {
		return nil, fmt.Errorf("idempotency: config: %w", err)
	}
	return &Guard{cfg: c, hasher: hasher{secret: slices.Clone(c.Secret), namespace: c.Namespace}, fingerprints: fingerprints}, nil
}

func orDefault[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}

// check returns everything that is wrong with a configuration whose defaults are filled in.
func (c *Config) check() error {
	var wrong []error
	rule := func(ok bool, reason string) {
		if !ok {
			wrong = append(wrong, errors.New(reason))
		}
	}
	rule(c.Store != nil, "Store is missing")
	rule(c.Scope != nil, "Scope is missing: name the tenant from verified facts, or say SharedScope for one scope of all callers")
	rule(len(c.Secret) == 0 || len(c.Secret) >= 16, "Secret has fewer than 16 bytes")
	rule(len(c.Methods) > 0, "Methods is empty: no request would be guarded")
	for _, m := range c.Methods {
		rule(m != "" && m == strings.ToUpper(m), fmt.Sprintf("Methods: %q is no method in upper case", m))
	}
	rule(c.MaxBody > 0, "MaxBody is negative")
	rule(c.Lease > 0, "Lease is negative")
	rule(c.Skew > 0, "Skew is negative")
	rule(c.Wait >= 0, "Wait is negative")
	rule(c.MaxRun >= c.Lease, "MaxRun is shorter than Lease")
	rule(c.Retention > c.MaxRun+2*c.Skew, "Retention is not longer than MaxRun (by default Lease) and twice Skew: a record could be forgotten while its run is live")
	rule(c.Orphans >= Rerun && c.Orphans <= Recover, "Orphans is no policy")
	rule((c.Orphans == Recover) == (c.Recover != nil), "Recover (the function) and Orphans: Recover go together")
	return errors.Join(wrong...)
}

// Guards reports whether requests of this method are guarded. Others need not be brought to [Guard.Serve]. "post" is
// another method than "POST" (RFC 9110, section 9.1), but guarded too: a router whose routes name no method serves both,
// and no write may escape by its spelling.
func (g *Guard) Guards(method string) bool {
	return slices.ContainsFunc(g.cfg.Methods, func(m string) bool { return strings.EqualFold(m, method) })
}
