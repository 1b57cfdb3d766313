package idempotency

import "net/http"

// MaxBody is the largest request body, in bytes, that the guard takes: [Config.MaxBody]. Adapters that read a stream need
// not read more than one byte beyond it.
func (g *Guard) MaxBody() int { return g.cfg.MaxBody }

var responseNotStored = Problem{Code: "response-not-stored", Status: http.StatusConflict,
	Title: "Response not stored", Detail: "The request with this idempotency key took effect, but its response was not kept. Find out by other means what it was."}

// Unstored is for adapters that cannot keep a response, because it is too large: their run returns what Unstored makes of
// it, and they send the response to the first caller themselves. What becomes of the claim is decided on r, as always;
// where r would have been recorded, the answer 409 response-not-stored is, and every later request with the key gets it.
// The body of r may be missing.
func (t *Attempt) Unstored(r *Response) *Response {
	t.Decide(t.dispose(r))
	return t.problem(OutcomeFirst, responseNotStored, 0).response
}
