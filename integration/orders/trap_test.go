package orders

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// trap kills a process at one of its calls: the call takes effect, and the process dies before it hears of it.
type trap struct {
	spring func()

	mu     sync.Mutex // guards the following
	left   int        // calls until it springs; 0: it does not
	sprung int
	hit    bool // since it was armed
}

// arm makes the n-th call from now on the process's last.
func (k *trap) arm(n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.left, k.hit = n, false
}

// disarm reports whether the trap has sprung.
func (k *trap) disarm() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.left = 0
	return k.hit
}

// around is for sandbox.Config.Intercept.
func (k *trap) around(_ string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isSandboxes(r) || !k.strikes() {
			next.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(httptest.NewRecorder(), r)
		k.spring()
		panic(http.ErrAbortHandler) // closes the connection
	})
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
	k.hit = k.left == 0
	if k.hit {
		k.sprung++
	}
	return k.hit
}
