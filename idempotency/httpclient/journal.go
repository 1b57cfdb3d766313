package httpclient

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// Journal remembers operations, so that a program that starts after a crash can finish them with the same keys. [Dir] is
// one in a folder. All methods may be called at once by several goroutines.
type Journal interface {
	// Begin keeps an operation before anything of it is sent. Where the key is known already, what is kept and returned
	// is what [Entry.Follow] makes of both entries, and its errors are returned. On return the entry survives a crash.
	Begin(Entry) (Entry, error)
	// Finish keeps the outcome of an operation in the place of its entry.
	Finish(Entry) error
	// Entries returns all entries that can be read. The error tells of those that cannot, and does not hide the others.
	Entries() ([]Entry, error)
	// Drop forgets an entry. It is no error if it is not there.
	Drop(Entry) error
}

// Entry is one operation in a journal.
type Entry struct {
	Key      string      `json:"key"` // without quotes
	Method   string      `json:"method"`
	URL      string      `json:"url"`                // of the first request, without user and password
	Hop      string      `json:"hop,omitempty"`      // where a redirect within the origin took it; "": nowhere
	Header   http.Header `json:"header,omitempty"`   // what describes the body: Content-Type and Content-Encoding
	BodyHash []byte      `json:"body_sha256"`        // SHA-256 of the body
	Body     []byte      `json:"body,omitempty"`     // where it is kept, until the answer
	At       time.Time   `json:"at"`                 // when it was first begun
	Until    time.Time   `json:"until"`              // from then on the server may have forgotten the key
	Status   int         `json:"status,omitempty"`   // of the final answer; 0: there is none yet
	Replayed bool        `json:"replayed,omitempty"` // the final answer was a replay
	Done     time.Time   `json:"done,omitzero"`      // when the final answer came
}

// Reasons why an operation is not begun, or resumed, under a key that the journal knows.
var (
	ErrKeyUsed      = errors.New("the key belongs to another request")
	ErrKeyForgotten = errors.New("the server may have forgotten the key, so that it would be a new operation; find out by other means what became of the old one")
	ErrFromFuture   = errors.New("the entry is dated in the future, so its age is not known; set the clock right")
	ErrNeedsBody    = errors.New("the journal does not hold the body; give it again")
)

// clockSlack is how far in the future an entry may be dated, by a clock that was corrected a little since.
const clockSlack = time.Minute

// Follow makes the entry of an operation that is begun now, where the journal holds an older one under its key: the same
// operation goes on and keeps its first time and URL. The same is what has the same method, body and URL, where the URL
// may also be the one to which it was redirected. It is for implementations of [Journal]. The errors are [ErrKeyUsed],
// [ErrKeyForgotten] and [ErrFromFuture].
func (e Entry) Follow(old Entry) (Entry, error) {
	same := bytes.Equal(e.BodyHash, old.BodyHash) && (e.URL == old.URL || e.URL == old.Hop)
	switch {
	case old.At.After(e.At.Add(clockSlack)):
		return Entry{}, ErrFromFuture
	case old.Status != 0 && !e.At.Before(old.Until):
		return e, nil
	case !same || old.Status == 0 && e.Method != old.Method: // a redirect may have changed the method
		return Entry{}, old.used()
	case !e.At.Before(old.Until):
		return Entry{}, ErrKeyForgotten
	}
	e.At, e.Until, e.URL, e.Hop = old.At, old.Until, old.URL, cmp.Or(e.Hop, old.Hop)
	if e.Body == nil {
		e.Body = old.Body
	}
	return e, nil
}

// used says that an entry's key is not for another request, and what to do instead. While the outcome is open, a new key
// is bad advice: the other request may be the same operation, written differently.
func (e Entry) used() error {
	if e.Status == 0 {
		return fmt.Errorf("%w, which has no final answer yet; resume that one, or finish it first: with a new key the operation may take effect twice", ErrKeyUsed)
	}
	return fmt.Errorf("%w; give this one a key of its own", ErrKeyUsed)
}

// Request makes the request of an unfinished operation, with its key; a redirected one is sent to where it was. The body is the entry's, where it is kept, else the
// given one: [ErrNeedsBody] and [ErrKeyUsed] say that it is missing or another. Credentials are the caller's to add.
func (e Entry) Request(ctx context.Context, body []byte) (*http.Request, error) {
	if e.Body != nil {
		body = e.Body
	}
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], e.BodyHash) {
		err := e.used()
		if body == nil {
			err = ErrNeedsBody
		}
		return nil, fmt.Errorf("httpclient: %s %s: %w", e.Method, e.URL, err)
	}
	var content io.Reader
	if len(body) > 0 {
		content = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(WithKey(ctx, e.Key), e.Method, cmp.Or(e.Hop, e.URL), content)
	if err != nil {
		return nil, fmt.Errorf("httpclient: %w", err)
	}
	for name, values := range e.Header {
		req.Header[name] = slices.Clone(values)
	}
	return req, nil
}

// Unfinished lists the operations in the journal that have no final answer, the oldest first, for [Entry.Request] and
// [Transport.Do]. Those that other goroutines are just sending are among them, so call it before the first operation.
//
// Entries past the retention are dropped from the journal. Those of them without an answer are returned as forgotten:
// they can no longer be resumed, and what became of them must be found out by other means. The error tells of entries
// that cannot be read, and does not hide the others.
func (t *Transport) Unfinished() (live, forgotten []Entry, err error) {
	if t.cfg.Journal == nil {
		return nil, nil, errors.New("httpclient: there is no journal")
	}
	all, err := t.cfg.Journal.Entries()
	errs := []error{err}
	now := time.Now()
	for _, e := range all {
		past := !now.Before(e.Until)
		if past {
			errs = append(errs, t.cfg.Journal.Drop(e))
		}
		switch {
		case e.Status != 0:
		case past:
			forgotten = append(forgotten, e)
		default:
			live = append(live, e)
		}
	}
	oldest := func(a, b Entry) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Key, b.Key)) }
	slices.SortFunc(live, oldest)
	slices.SortFunc(forgotten, oldest)
	if err := errors.Join(errs...); err != nil {
		return live, forgotten, fmt.Errorf("httpclient: journal: %w", err)
	}
	return live, forgotten, nil
}

// note writes the operation into the journal before anything is sent.
func (o *operation) note() (err error) {
	j := o.t.cfg.Journal
	if j == nil {
		return nil
	}
	first := firstHop(o.req)
	e := Entry{Key: o.outcome.Key, Method: cmp.Or(o.req.Method, http.MethodGet), URL: bareURL(first.URL), At: o.start.UTC().Round(0)}
	if first != o.req {
		e.Hop = bareURL(o.req.URL)
	}
	e.Until, e.Header = e.At.Add(o.t.cfg.Retention), http.Header{}
	for _, name := range []string{"Content-Type", "Content-Encoding"} {
		if values := o.req.Header[name]; values != nil {
			e.Header[name] = values
		}
	}
	if e.BodyHash, e.Body, err = o.body.digest(o.t.cfg.KeepBodies, o.t.cfg.MaxBody); err != nil {
		return err
	}
	if e, err = j.Begin(e); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if o.entry = &e; o.entry.Until.Before(o.until) {
		o.until = o.entry.Until
	}
	return nil
}

// leadsBack reports whether an answer is a redirect of an operation that was already redirected. Its answer comes from
// where it is: whether anybody follows the redirect is not known here.
func (o *operation) leadsBack() bool {
	again := o.outcome.Status == http.StatusTemporaryRedirect || o.outcome.Status == http.StatusPermanentRedirect
	return again && o.entry.Hop != "" && o.entry.Hop != bareURL(o.req.URL)
}

// bareURL writes a URL without credentials and without what is not sent.
func bareURL(u *url.URL) string {
	bare := *u
	bare.User, bare.Fragment, bare.RawFragment = nil, "", ""
	return bare.String()
}

// answered is the entry of an operation that has its final answer.
func (e Entry) answered(o Outcome, now time.Time) Entry {
	e.Status, e.Replayed, e.Done, e.Body = o.Status, o.Replayed, now.UTC().Round(0), nil
	return e
}
