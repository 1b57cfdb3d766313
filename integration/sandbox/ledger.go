package sandbox

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const ledgerFile = "psp.jsonl"

// ledger is what the fake provider remembers: one entry a key, and in it the answer and the charge. With a folder it
// keeps them in a file, one line for each change of an entry; the last line of a key counts.
type ledger struct {
	mu      sync.Mutex // guards the following
	entries map[string]*ledgerEntry
	order   []*ledgerEntry // as the keys first came
	file    *os.File       // nil: memory only
	lost    error          // the first write that failed
}

// ledgerEntry is all about one key.
type ledgerEntry struct {
	Key      string        `json:"key"`
	Request  chargeRequest `json:"request"`
	Attempts int           `json:"attempts"` // requests with this key and this body
	Answer   *pspAnswer    `json:"answer,omitempty"`
	Charge   *charge       `json:"charge,omitempty"`
	busy     bool          // a request with this key is being worked on
}

// pspAnswer is an answer that every later request with the key gets too.
type pspAnswer struct {
	Status int             `json:"status"`
	Body   json.RawMessage `json:"body"`
}

// charge is one charge, as the provider's API shows it.
type charge struct {
	ID        string `json:"id"`
	Status    string `json:"status"`
	Amount    int64  `json:"amount"`
	Currency  string `json:"currency"`
	Reference string `json:"reference"`
	CreatedAt string `json:"created_at"` // RFC 3339
}

// listedCharge is a charge in the sandbox's list of them.
type listedCharge struct {
	ID        string `json:"id"`
	Amount    int64  `json:"amount"`
	Currency  string `json:"currency"`
	Reference string `json:"reference"`
	Attempts  int    `json:"attempts"`
	CreatedAt string `json:"created_at"`
}

// openLedger reads what an earlier run left in dir; "" keeps everything in memory.
func openLedger(dir string) (*ledger, error) {
	l := &ledger{entries: map[string]*ledgerEntry{}}
	if dir == "" {
		return l, nil
	}
	file := filepath.Join(dir, ledgerFile)
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := l.load(file, text); err != nil {
		return nil, err
	}
	if err := l.rewrite(file); err != nil {
		return nil, err
	}
	l.file, err = os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0o600)
	return l, err
}

// load reads the lines. The last one may be cut short, if the sandbox was killed while it wrote; what else it cannot
// read it refuses: a lost entry would let its key charge again.
func (l *ledger) load(file string, text []byte) error {
	n := 0
	for line := range bytes.Lines(text) {
		n++
		e := &ledgerEntry{}
		err := json.Unmarshal(line, e)
		if err == nil && e.Key == "" {
			err = errors.New("there is no key")
		}
		switch torn := !bytes.HasSuffix(line, []byte("\n")); {
		case err == nil:
			l.put(e)
		case !torn:
			return fmt.Errorf("%s:%d: not an entry of the provider's charges: %w; correct or remove the line", file, n, err)
		}
	}
	return nil
}

// put replaces what is known of a key.
func (l *ledger) put(e *ledgerEntry) {
	if old := l.entries[e.Key]; old != nil {
		*old = *e
		return
	}
	l.entries[e.Key] = e
	l.order = append(l.order, e)
}

// rewrite leaves one line for each key.
func (l *ledger) rewrite(file string) error {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	for _, e := range l.order {
		if err := enc.Encode(e); err != nil {
			return err
		}
	}
	if err := os.WriteFile(file+".new", out.Bytes(), 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// save writes an entry's line. Called with mu held.
func (l *ledger) save(e *ledgerEntry) {
	if l.file == nil {
		return
	}
	line, err := json.Marshal(e)
	if err == nil {
		_, err = l.file.Write(append(line, '\n'))
	}
	if err != nil && l.lost == nil {
		l.lost = err
	}
}

// begin takes a request with a key. Either the key is free for it, and stays taken until end, or there is an answer.
func (l *ledger) begin(key string, req chargeRequest) (answer *pspAnswer, attempt int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.entries[key]
	if e == nil {
		e = &ledgerEntry{Key: key, Request: req}
		l.entries[key] = e
		l.order = append(l.order, e)
	}
	if e.Request != req {
		return &pspAnswer{http.StatusUnprocessableEntity, codeBody("key_reused")}, 0
	}
	e.Attempts++
	l.save(e)
	switch {
	case e.busy:
		return &pspAnswer{http.StatusConflict, codeBody("key_in_flight")}, 0
	case e.Answer != nil:
		return e.Answer, 0
	}
	e.busy = true
	return nil, e.Attempts
}

// end frees a key that begin has taken.
func (l *ledger) end(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries[key].busy = false
}

// decline records that the key's request is declined.
func (l *ledger) decline(key string) *pspAnswer {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.entries[key]
	e.Answer = &pspAnswer{http.StatusPaymentRequired, codeBody("card_declined")}
	l.save(e)
	return e.Answer
}

// charge records a charge for the key's request.
func (l *ledger) charge(key string, now time.Time) *pspAnswer {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.entries[key]
	e.Charge = &charge{
		ID: "ch_" + rand.Text(), Status: "captured", Amount: e.Request.Amount, Currency: e.Request.Currency,
		Reference: e.Request.Reference, CreatedAt: now.UTC().Format(time.RFC3339),
	}
	body, _ := json.Marshal(e.Charge) // strings and a number: it cannot fail
	e.Answer = &pspAnswer{http.StatusCreated, body}
	l.save(e)
	return e.Answer
}

// charges lists the charges with a reference, or all of them for "", oldest first.
func (l *ledger) charges(reference string) []listedCharge {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := []listedCharge{}
	for _, e := range l.order {
		if c := e.Charge; c != nil && (reference == "" || c.Reference == reference) {
			out = append(out, listedCharge{c.ID, c.Amount, c.Currency, c.Reference, e.Attempts, c.CreatedAt})
		}
	}
	return out
}

// close reports the first charge that could not be written.
func (l *ledger) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	return errors.Join(l.lost, l.file.Close())
}
