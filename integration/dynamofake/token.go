package dynamofake

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"sync"
	"time"
)

// tokenLife is how long a client request token is known after its transaction
// completed (API reference, TransactWriteItems).
const tokenLife = 10 * time.Minute

var (
	errInProgress    = fail(codeInProgress, "The transaction with the given request token is already in progress.")
	errTokenMismatch = fail(codeTokenMismatch, "DynamoDB rejected the request because you retried a request with a different payload but with an idempotent token that was already used.")
)

// tokens are the client request tokens of transactions that are running or
// were completed. The zero value has none.
type tokens struct {
	mu    sync.Mutex
	known map[string]*tokenUse
	// expiring are the completed ones in the order of their completion.
	expiring []*tokenUse
}

// tokenUse is one use of a token.
type tokenUse struct {
	token   string
	request [sha256.Size]byte
	done    bool
	at      time.Time // of the commit
}

// claim takes a token for a transaction. It is known already if the same
// request was done with it.
func (t *tokens) claim(use *tokenUse, now time.Time) (known bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.expire(now)
	switch earlier := t.known[use.token]; {
	case earlier == nil:
		if t.known == nil {
			t.known = map[string]*tokenUse{}
		}
		t.known[use.token] = use
		return false, nil
	case earlier.request != use.request:
		return false, errTokenMismatch
	case !earlier.done:
		return false, errInProgress
	}
	return true, nil
}

// settle makes a token known from its transaction's completion on, or free
// again if the transaction was not done.
func (t *tokens) settle(use *tokenUse, done bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !done {
		delete(t.known, use.token)
		return
	}
	use.done = true
	t.expiring = append(t.expiring, use)
}

// expire forgets what was completed too long ago.
func (t *tokens) expire(now time.Time) {
	for len(t.expiring) > 0 && now.Sub(t.expiring[0].at) >= tokenLife {
		delete(t.known, t.expiring[0].token)
		t.expiring = t.expiring[1:]
	}
}

// restore makes a token known again that a log remembers.
func (t *tokens) restore(use *tokenUse) {
	if use == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil {
		t.known = map[string]*tokenUse{}
	}
	t.known[use.token] = use
	t.expiring = append(t.expiring, use)
}

// once runs a transaction, unless its token says that this was done: then it
// is only confirmed, which costs reads.
func (s *Server) once(r *request, t *transaction) ([]consumed, split, error) {
	if r.token == nil {
		used, err := s.run(t, nil)
		return used, writeSplit, err
	}
	use := &tokenUse{token: *r.token, request: r.digest(s.options.TokensCompareBytes)}
	known, err := s.tokens.claim(use, s.now())
	switch {
	case err != nil:
		return nil, noSplit, err
	case known:
		used := s.confirm(t)
		return used, readSplit, nil
	}
	used, err := s.run(t, use)
	s.tokens.settle(use, err == nil)
	return used, writeSplit, err
}

// confirm is the cost of a transaction that was done before: a transactional
// read of each item.
func (s *Server) confirm(t *transaction) []consumed {
	used := make([]consumed, len(t.tables))
	for i, table := range t.tables {
		used[i].table = table.name
		table.mu.RLock()
		for _, w := range t.writes {
			if w.table == table {
				used[i].units += 2 * readUnits(table.find(w.key).bytes(), true)
			}
		}
		table.mu.RUnlock()
		s.stats.read(used[i].units)
	}
	return used
}

// digest stands for a request when a token comes again: of what it means, or
// of its bytes.
func (r *request) digest(bytes bool) [sha256.Size]byte {
	if bytes {
		return sha256.Sum256(r.body)
	}
	w := writer{out: make([]byte, 0, 512)}
	w.open('[')
	for i := range r.actions {
		w.str(r.actions[i].op)
		w.meaning(&r.actions[i].req)
	}
	w.close(']')
	w.str(r.returnCapacity.value)
	w.str(r.returnMetrics.value)
	return sha256.Sum256(w.out)
}

// meaning writes a write's parameters, one text for all orders of members,
// names and values.
func (w *writer) meaning(r *request) {
	w.open('[')
	w.str(*r.table)
	w.item(r.key)
	w.item(r.item)
	for _, text := range []*string{r.condition, r.update} {
		w.open('[')
		if text != nil {
			w.str(*text)
		}
		w.close(']')
	}
	slices.SortFunc(r.names, func(a, b nameArg) int { return cmp.Compare(a.placeholder, b.placeholder) })
	for _, n := range r.names {
		w.str(n.placeholder)
		w.str(n.name)
	}
	slices.SortFunc(r.values, func(a, b valueArg) int { return cmp.Compare(a.placeholder, b.placeholder) })
	for i := range r.values {
		w.str(r.values[i].placeholder)
		w.value(&r.values[i].value)
	}
	w.str(r.returnOnFail.value)
	w.close(']')
}
