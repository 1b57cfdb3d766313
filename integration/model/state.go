package main

import (
	"fmt"
	"unsafe"
)

const maxAttempts = 3

// status of a record (idempotency.Record).
type status uint8

const (
	processing status = iota
	released
	completed
)

// Schema versions of a record, seen from the running code.
const (
	formerVersion  uint8 = iota // readable
	currentVersion              // written by us
	unknownVersion              // written by a later release
)

// Which answer a completion records.
const (
	kindMain     uint8 = iota // the handler's response
	kindBusiness              // the answer given with the writes, for a business condition that failed
)

// absent stands for a lease_until attribute that is not there; 0 is an orphan's.
const absent uint8 = 255

// record is the one DynamoDB item. Zero expires: no attribute.
// Owner 0 is an attempt of the past; attempt i is owner i+1.
type record struct {
	exists             bool
	version            uint8
	status             status
	owner, epoch       uint8
	request, principal uint8 // fingerprint, hash of the principal
	lease, expires     uint8 // lease_until, expires_at
	answer, kind       uint8 // whose response is recorded, and which
	steps              bool  // a step's result is stored
}

// op is a kind of DynamoDB call.
type op uint8

const (
	noCall op = iota
	opClaim
	opTakeover
	opExtend
	opCheckpoint
	opComplete
	opTransact
	opRelease
	opOrphan
	opRead
)

var opNames = []string{"-", "claim", "takeover", "extend", "checkpoint", "complete", "transact", "release", "orphan", "read"}

// Why a consistent GetItem is sent.
const (
	readPoll     uint8 = iota // waiting, or the exception of a refused claim carried no item
	readOutcome               // the transaction was never answered
	readValidate              // the validate hook refused
)

// call is a request with everything that was fixed when it was sent; a repeated or late copy is the same call.
type call struct {
	op         op
	now        uint8
	seenOwner  uint8
	seenStatus status
	seenLease  uint8 // takeover: as seen; extend: as the owner knows it
	seenEpoch  uint8
	seenSteps  bool
	kind       uint8 // answer to record, or purpose of a read
	known      bool  // release: the handler returned, its outcome is known
}

// phase is where an attempt stands.
type phase uint8

const (
	idle phase = iota
	calling
	holding    // owns the claim, handler not started
	recovering // the endpoint's recovery function runs
	running    // the handler runs
	done
)

var phaseNames = []string{"idle", "calling", "holding", "RECOVERING", "RUNNING", "done"}

// answer is what the client is told.
type answer uint8

const (
	noAnswer           answer = iota
	ansOwn                    // the recorded main response of this attempt
	ansOwnBusiness            // the recorded business answer of this attempt
	ansUnrecorded             // the handler's response, plain completion failed for good
	ansUnrecordedBiz          // the business answer, completion failed for good
	ansReplay                 // the recorded response of another attempt
	ansInProgress             // 409 in-progress
	ansReused                 // 422 key-reused
	ansForbidden              // 403 replay-forbidden
	ansUnavailable            // 503 store-unavailable: did not run
	ansOutcomeConflict        // 409 outcome-unknown
	ansOutcomeUnknown         // 503 outcome-unknown
	ansFailed                 // the handler's unrecorded response, claim released
	ansOrphaned               // 500, outcome not known
	ansRefused                // 400 of the validate hook
)

var answerNames = []string{"", "own response", "own business answer", "own response, not recorded",
	"own business answer, not recorded", "replay", "409 in-progress", "422 key-reused", "403 replay-forbidden",
	"503 store-unavailable", "409 outcome-unknown", "503 outcome-unknown", "handler's 5xx", "500 orphaned",
	"400 of the hook"}

// attempt is one invocation with its own owner token.
type attempt struct {
	phase       phase
	tries       uint8 // unanswered tries of the current call
	lease       uint8 // lease_until as the owner knows it
	epoch       uint8
	extends     uint8
	checkpoint  bool
	knows       bool
	tookOrphan  bool   // the claim was taken over from a processing record
	ran         bool   // the handler was started
	unanswered  bool   // a transaction of this attempt was never answered
	then        answer // answer after a release or an orphaning
	answer      answer
	call        call
	outstanding [2]call // unanswered copies that may still reach the store
}

// ghost is what only the checker knows.
type ghost struct {
	holder      uint8 // attempt whose claim or takeover landed last
	last        uint8 // last accepted completion, 0 none
	lastExpires uint8
	maxEpoch    uint8 // highest fencing number of a handler that started
	accepted    [maxAttempts]uint8
	kind        [maxAttempts]uint8
	written     [maxAttempts]uint8 // business writes applied
	letGo       bool               // holder let go, next attempt may run at once
	unresolved  bool               // a run's outcome is not known to anybody
	steps       bool               // a step's result was stored and must survive
	low         bool               // others make the business condition fail
	row         bool               // our business write makes its own condition fail
	toggles     uint8
}

type state struct {
	t     uint8 // true time; attempt i reads t + offset[i]
	rec   record
	stale record // only for the mutation that reads without consistency
	a     [maxAttempts]attempt
	g     ghost
}

func (s *state) bytes() []byte {
	return (*[unsafe.Sizeof(state{})]byte)(unsafe.Pointer(s))[:]
}

func (r record) String() string {
	if !r.exists {
		return "no item"
	}
	st := []string{"processing", "released", "completed"}[r.status]
	x := fmt.Sprintf("%s owner=A%d epoch=%d", st, r.owner, r.epoch)
	if r.lease != absent {
		x += fmt.Sprintf(" lease_until=%d", r.lease)
	}
	if r.expires != 0 {
		x += fmt.Sprintf(" expires_at=%d", r.expires)
	}
	if r.request != 0 {
		x += fmt.Sprintf(" request=%d", r.request)
	}
	if r.steps {
		x += " steps"
	}
	return x
}
