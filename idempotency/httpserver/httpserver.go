// Package httpserver guards net/http handlers: services in containers and on machines of their own, outside AWS Lambda.
//
//	guarded := httpserver.Middleware(guard, httpserver.Options{Caller: callerOf})
//	mux.Handle("POST /payments", authenticate(guarded(createPayment)))
//
// Put it behind the authentication, which knows the caller, and around the handlers of single routes: the pattern of the
// route is what records and metrics call the endpoint. Requests with a method that the guard does not guard pass through
// untouched: name the method in the pattern, or a client reaches the handler past the guard by another one. Put what
// overrides methods in front.
//
// # What may stand in front
//
// The guard tells requests apart by their bodies, so nothing in front may read one and keep it: r.FormValue and r.ParseForm
// read forms (for a CSRF token, a method override). Such a request is answered 500 body-consumed, and the log says what to
// do: put the guard outside, or hand the body on, all of it in r.Body and its size in r.ContentLength. It is noticed by
// fewer bytes than r.ContentLength says, by a form that was parsed, and by a body that was closed. It cannot be noticed
// where something else is read of a body of unknown length (chunked): then requests that differ are taken for the same.
//
// A limit in front ([http.MaxBytesHandler]) makes the answer 413 body-too-large, a body that was cut off on its way 400
// body-incomplete, each after the checks of scope and key, as all refusals of the guard.
//
// # What a guarded handler notices
//
// The request's body has been read, up to the guard's limit, and can be read again.
//
// The response leaves when the handler has returned and its outcome is recorded, not before. So Flush does nothing,
// Hijack returns [http.ErrNotSupported], [http.NewResponseController] reaches no connection, informational responses
// (1xx) and trailers are dropped, and Content-Length is that of the body as it is. What the handler wrote is no response
// if it announced another length, or if its writes failed: the answer is 500, and the outcome counts as unknown.
//
// The request's context does not end when the client disconnects, since half a payment is worse than one that nobody
// waits for: the handler runs on, and the client's retry gets its response. The context ends with the lease
// ([idempotency.Config].Lease and MaxRun), or with its deadline if a middleware in front has set one. A duplicate that
// waits ([idempotency.Config].Wait) waits on, too.
//
// A panic, [http.ErrAbortHandler] included, orphans the claim and goes on: nothing has been sent.
//
// Headers that middlewares in front have set are theirs: they are sent with every answer, and not recorded unless the
// handler changes them; those that it deletes are not sent, by a replay either. Idempotent-Replayed is the guard's alone.
package httpserver

import (
	"context"
	"net/http"

	"firstwriter/idempotency"
)

// DefaultMaxResponse is the default of [Options].MaxResponse: what AWS Lambda allows, 6 MiB.
const DefaultMaxResponse = 6 << 20

// Options say what the middleware cannot know. The zero value guards for callers that nobody has verified, which suits
// [idempotency.SharedScope] alone.
type Options struct {
	// Caller tells who sent a request, from what an authentication in front has verified and left in the request's
	// context, never from a header that a client can set. Default: nobody.
	Caller func(*http.Request) idempotency.Caller
	// MaxResponse is the largest response body, in bytes, that is recorded, and that is held in memory. A larger one goes
	// to a temporary file and from there to the first caller; later requests with the key are answered 409
	// response-not-stored. Of a larger one, [idempotency.Config].Disposition sees this much. Default [DefaultMaxResponse].
	MaxResponse int
}

// Middleware guards handlers. It panics if an option makes no sense.
func Middleware(g *idempotency.Guard, o Options) func(http.Handler) http.Handler {
	if o.MaxResponse < 0 {
		panic("httpserver: MaxResponse is negative")
	}
	if o.MaxResponse == 0 {
		o.MaxResponse = DefaultMaxResponse
	}
	if o.Caller == nil {
		o.Caller = func(*http.Request) idempotency.Caller { return idempotency.Caller{} }
	}
	return func(next http.Handler) http.Handler { return &guarded{g, o, next} }
}

// guarded is a guarded handler.
type guarded struct {
	guard *idempotency.Guard
	Options
	next http.Handler
}

// ServeHTTP implements [http.Handler].
func (h *guarded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.guard.Guards(r.Method) {
		h.next.ServeHTTP(w, r)
		return
	}
	body, broken := readBody(r, h.guard.MaxBody())
	ctx, cancel := detach(r.Context())
	defer cancel()
	c := newCapture(w.Header(), h.MaxResponse)
	defer c.body.remove()
	answer := h.guard.Serve(ctx, h.request(r, body, broken), func(ctx context.Context) (*idempotency.Response, error) {
		h.next.ServeHTTP(c, again(ctx, r, body, broken))
		return c.result(idempotency.AttemptFrom(ctx))
	})
	if c.isLarge(answer) {
		c.sendLarge(w, answer)
		return
	}
	send(w, answer)
}

// detach returns a context that a disconnecting client does not cancel. A deadline stays.
func detach(ctx context.Context) (context.Context, context.CancelFunc) {
	detached := context.WithoutCancel(ctx)
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithDeadline(detached, deadline)
	}
	return detached, func() {}
}
