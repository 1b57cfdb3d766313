package httpclient

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Config says how operations are sent. The zero value works.
type Config struct {
	// Base sends the single requests. It must not send anything again with another key. Default: [http.DefaultTransport].
	Base http.RoundTripper
	// Methods are those whose requests get a key and are repeated. Requests with others go straight to Base, unless they
	// bring a key. Default: POST and PATCH.
	Methods []string
	// BareKeys sends keys without quotes, for servers that do not know structured fields. A key that needs quotes is then
	// refused.
	BareKeys bool

	// MaxAttempts is how often one operation is sent at most. Default: 12.
	MaxAttempts int
	// MaxElapsed is how long all attempts of one operation and the pauses between them take at most. Default: 2 minutes.
	MaxElapsed time.Duration
	// AttemptTimeout is how long one attempt waits for its answer. Default: 35 seconds, a little more than the 30 that API
	// Gateway gives an integration.
	AttemptTimeout time.Duration
	// MinBackoff and MaxBackoff bound the pauses: the n-th one is random, between zero and MinBackoff doubled n-1 times,
	// at most MaxBackoff ("full jitter"). Defaults: 250 ms and 8 seconds.
	MinBackoff, MaxBackoff time.Duration
	// MaxRetryAfter is the longest Retry-After that is obeyed; a longer one counts as this. It is added to the pause.
	// Default: 1 minute.
	MaxRetryAfter time.Duration
	// Retention is how long the server remembers a key at least. After it the same key would be a new operation, so no
	// attempt is made later than this after the first, not even by a resumed operation. Default: 24 hours.
	Retention time.Duration

	// MaxBody is how many bytes of a request body are kept in memory, where the request has no GetBody, and in the
	// journal. A longer body without GetBody is sent once. Default: 1 MiB.
	MaxBody int
	// MaxAnswer is how many bytes of an answer are read before it counts, so that one that breaks off is asked for again.
	// What is longer is handed on as a stream. Default: 1 MiB.
	MaxAnswer int

	// Journal remembers operations over a crash. Default: none.
	Journal Journal
	// KeepBodies has the journal keep the bodies of requests until they are answered. Without them, whoever resumes an
	// operation must have its body.
	KeepBodies bool
	// OnAttempt is called after each attempt, before the pause that follows. It may be called by several goroutines, one
	// for each operation. Default: nothing is called.
	OnAttempt func(Attempt)
}

// New makes a transport. An error says what is wrong with the configuration.
func New(c Config) (*Transport, error) {
	if c.Base == nil {
		c.Base = http.DefaultTransport
	}
	if c.Methods == nil {
		c.Methods = []string{http.MethodPost, http.MethodPatch}
	}
	c.MaxAttempts = cmp.Or(c.MaxAttempts, 12)
	c.MaxElapsed = cmp.Or(c.MaxElapsed, 2*time.Minute)
	c.AttemptTimeout = cmp.Or(c.AttemptTimeout, 35*time.Second)
	c.MinBackoff = cmp.Or(c.MinBackoff, 250*time.Millisecond)
	c.MaxBackoff = cmp.Or(c.MaxBackoff, max(8*time.Second, c.MinBackoff))
	c.MaxRetryAfter = cmp.Or(c.MaxRetryAfter, time.Minute)
	c.Retention = cmp.Or(c.Retention, 24*time.Hour)
	c.MaxBody = cmp.Or(c.MaxBody, 1<<20)
	c.MaxAnswer = cmp.Or(c.MaxAnswer, 1<<20)
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("httpclient: %w", err)
	}
	c.Methods = slices.Clone(c.Methods)
	_, std := c.Base.(*http.Transport)
	return &Transport{cfg: c, traced: std}, nil
}

func (c Config) check() error {
	least := min(c.MaxElapsed, c.AttemptTimeout, c.MinBackoff, c.MaxRetryAfter, c.Retention)
	switch {
	case least < 0 || c.MaxAttempts < 0 || c.MaxBody < 0 || c.MaxAnswer < 0:
		return errors.New("a limit is negative")
	case c.MaxBackoff < c.MinBackoff:
		return fmt.Errorf("MaxBackoff (%v) is shorter than MinBackoff (%v)", c.MaxBackoff, c.MinBackoff)
	case c.MaxElapsed >= c.Retention:
		return fmt.Errorf("MaxElapsed (%v) must be shorter than Retention (%v): the server would forget the key in between", c.MaxElapsed, c.Retention)
	case c.KeepBodies && c.Journal == nil:
		return errors.New("KeepBodies needs a Journal")
	}
	return nil
}
