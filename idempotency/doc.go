// Package idempotency makes write endpoints take effect once per idempotency key.
//
// A client that has no answer sends its request again with the same Idempotency-Key header. The [Guard] claims the key in
// a [Store] before the handler runs, so that the first writer wins; it records the response before it leaves; and it
// gives that response to every later request with the key.
//
//	guard, err := idempotency.New(idempotency.Config{
//		Store: dynamostore.New(client, table),
//		Scope: idempotency.JWTClaim("tenant_id"), // verified by the authorizer
//	})
//	lambda.Start(apigateway.HTTP(guard, createPayment)) // createPayment is an unchanged API Gateway handler
//
// # What it promises
//
// At most one completion is accepted per key and retention period, and every caller with that key gets that response. A
// handler runs again only after the earlier run let go of its claim, or its lease ran out; a run that lost its lease can
// neither write its result nor commit its enlisted writes: it is fenced by the owner token of its claim. Where the
// outcome is unknown the answer says so. Where the store cannot be reached the request is refused, not run unprotected.
//
// Not promised: exactly-once effects in systems outside the record's transaction. Give those a key from
// [Attempt.DeriveKey], which is the same on every attempt, or the fencing number [Attempt.Epoch], and record what they
// answered: see [Step].
//
// # What a client sees
//
//	situation                                        status  code
//	first run                                        as the handler says
//	finished                                         as recorded, plus Idempotent-Replayed: true
//	key missing or malformed                         400     key-missing, key-invalid
//	caller has no scope or principal                 403     caller-unknown
//	body over the limit                              413     body-too-large
//	body cut off on its way                          400     body-incomplete
//	body read by something in front of the guard     500     body-consumed
//	same key, other principal                        403     replay-forbidden
//	same key, other request                          422     key-reused
//	first run not finished                           409     in-progress, with Retry-After
//	finished, the response was withheld              409     response-not-stored
//	an earlier run's outcome unknown, policy Refuse  409     outcome-unknown
//	this run's outcome unknown                       503     outcome-unknown, with Retry-After
//	the handler returned an error                    500     handler-failed
//	store not reachable, or a record unreadable      503     store-unavailable, with Retry-After
//
// Errors are problem documents (RFC 9457), see [Problem]. The key follows draft-ietf-httpapi-idempotency-key-header-07,
// see [ParseKey].
//
// # What becomes of the claim
//
// A response is recorded, or the claim is released for the next attempt, as [DispositionByStatus] says,
// [Config.Disposition] or the handler itself by [Attempt.Decide]. A handler that returns an error, panics, or returns
// after its context has ended leaves an orphan: nobody knows how far it came, and the [OrphanPolicy] decides for the
// next attempt.
//
// # Several steps
//
// One call to another system and one transaction need no more than the above. For more, [Step] records the result of each
// step as it is taken; a later attempt gets the recorded results and runs only what is missing. A write that is enlisted in
// a step is committed together with its result. A step costs one call to the store, so an operation of three steps costs
// five: the claim, three checkpoints and the completion. A result that does not fit into a record of one write unit (1 KB)
// costs one call more, and one when an attempt gets it again; the largest has [MaxStepResult] bytes.
//
// An operation that turns out to fail for good can take its steps back: see [Undo] and [Attempt.Compensate]. That costs one
// call for the failure and one for each undo. Undoing is not the same as not having done: others may have seen the
// reservation meanwhile, and a charge that is refunded stands on the customer's statement. So take the step that may be
// refused before those that are hard to take back, authorize before you capture, and undo money by the provider's own
// refund, with the key of the undo. While an undo keeps failing, the client has no final answer, and the money is where it
// was: each attempt reports [OutcomeUncompensated], and the record keeps the steps until they are undone.
//
// # Where to read on
//
// guard.go is the way of a request, from top to bottom; finish.go is what follows the handler; decide.go is the one
// decision on a record; write.go is what the conditional writes mean; step.go and compensate.go are the steps.
package idempotency
