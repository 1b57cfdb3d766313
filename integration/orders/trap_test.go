package orders

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// trap kills a process at one of its calls, before it hears what has become of the call.
type trap struct {
	spring func()
	holds  bool // the call takes effect when it is released, else before the process dies

	mu     sync.Mutex // guards the following
	left   int        // calls until it springs; 0: it does not
	sprung int
	held   func() // lets the call take effect; nil: the trap has not sprung since it was armed
}

// arm makes the n-th call from now on the process's last.
func (k *trap) arm(n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.left, k.held = n, nil
}

// disarm returns what lets the last call take effect, which does nothing where it has; nil if the trap has not sprung.
func (k *trap) disarm() (held func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.left = 0
	return k.held
}

// around is for sandbox.Config.Intercept.
func (k *trap) around(_ string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isSandboxes(r) || !k.strikes() {
			next.ServeHTTP(w, r)
			return
		}
		body, _ := io.ReadAll(r.Body) // as much as there is
		call := sync.OnceFunc(func() {
			again := r.Clone(context.Background())
			again.Body = io.NopCloser(bytes.NewReader(body))
			next.ServeHTTP(httptest.NewRecorder(), again)
		})
		if !k.holds {
			call()
		}
		k.hold(call)
		k.spring()
		panic(http.ErrAbortHandler) // closes the connection
	})
}

func (k *trap) hold(call func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.held = call
	k.sprung++
}

// isSandboxes tells the sandbox's own calls of the database: it follows the streams.
func isSandboxes(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("X-Amz-Target"), "DynamoDBStreams_")
}

func (k *trap) strikes() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.left == 0 {
		return false
	}
	k.left--
	return k.left == 0
}
