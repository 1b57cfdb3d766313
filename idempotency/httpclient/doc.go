// Package httpclient sends operations to endpoints that take an Idempotency-Key header, and keeps the key: one key for
// each operation, the same over all attempts, also over a crash of the client.
//
//	transport, err := httpclient.New(httpclient.Config{})
//	client := &http.Client{Transport: transport}
//	res, err := client.Post(url, "application/json", strings.NewReader(order)) // sent until it has a final answer
//
// It works with any server that speaks the header (draft-ietf-httpapi-idempotency-key-header-07), and best with those
// that answer problem documents with code and retryable, as this project's guard does.
//
// # When an operation is sent again
//
//	what came back                                          sent again  what it says about the operation
//	no connection                                           yes         nothing was sent
//	the certificate is not trusted, the URL is none         no          nothing was sent
//	a connection that broke, an answer that broke off       yes         unknown
//	a status below 200, such as 101 or 000                  yes         unknown
//	any answer with Idempotent-Replayed: true               no          final
//	409 with the problem in-progress                        yes         unknown
//	409 or 503 with the problem outcome-unknown             409 no      unknown
//	425, 429                                                yes         this attempt had no effect
//	408, 500, 502, 503, 504                                 yes         unknown
//	another 5xx with retryable: true                        yes         unknown
//	401, 403, 407                                           no          this attempt had no effect
//	everything else                                         no          final
//
// A problem document with retryable: false makes a 408, 425, 429, 500, 502, 503 or 504 final, and has a 409 in-progress
// not sent again. Retry-After is the least pause, up to a limit, and a random time comes on top.
//
// An operation without a final answer ends in an [*OutcomeUnknown] where any attempt may have had an effect. So does one
// that got a 401 after a lost answer: the 401 is about today's token, not about the lost one. The key stays the same then,
// and it is the caller's to send the operation again with it, later: [WithKey], or a [Journal].
//
// Limit operations by [Config.MaxElapsed] or the request's context, not by Timeout of http.Client: that replaces the
// errors of this package by one of its own, without the key.
//
// # What net/http does by itself
//
// net/http sends a request with a key once more within one attempt, where a kept connection turns out to be dead, and
// with HTTP/2 where the server says that it has not looked at it. The key is the same, so it does no harm.
// [Outcome.Resends] counts it.
//
// # Where to read on
//
// operation.go is the way of an operation, from top to bottom; decide.go is the one decision on an answer; journal.go
// says what a journal is for, and dir.go keeps one in a folder.
package httpclient
