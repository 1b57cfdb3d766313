package main

// action is what the pure decision of section 4 says about an item.
type action uint8

const (
	actClaim   action = iota // no item, or one that a claim may replace
	actUnknown               // 503, item untouched
	actHold
	actForbidden
	actReused
	actReplay
	actTake
	actWait
	actOutcome // 409 outcome-unknown
)

// decide is the decision over (record, request, now), in the order of idempotency.Decide.
func (m *model) decide(me, request, principal uint8, r record, now int) action {
	if !r.exists {
		return actClaim
	}
	// 1. schema version unknown
	if r.version == unknownVersion && !m.is(decideNoVersion) {
		return actUnknown
	}
	// Correction 2 (README): a finished record that has expired is as good as absent, wherever it was read.
	if r.status != processing && m.expired(r, now) && !m.is(decideNoExpiry) {
		return actClaim
	}
	// 2. owner is mine and processing
	if r.owner == me && r.status == processing && !m.is(decideNoOwn) {
		return actHold
	}
	if m.is(decideReplayFirst) && r.status == completed {
		return actReplay
	}
	forbidden := r.principal != principal && !m.is(decideNoPrincipal)
	reused := r.request != request && !m.is(decideNoRequest) &&
		!(m.is(decideRequestCompletedOnly) && r.status != completed)
	switch {
	case forbidden && !(m.is(decideRequestFirst) && reused): // 3.
		return actForbidden
	case reused: // 4. in every status
		return actReused
	case r.status == completed: // 5.
		return actReplay
	case r.status == released && !m.is(releasedByPolicy): // 6.
		return actTake
	case now < m.takeableAt(r): // 7.
		return actWait
	case m.cfg.policy == refuse && !m.is(refuseTakesOver): // 8.
		return actOutcome
	}
	return actTake
}

// takeableAt: a taker waits for lease_until, on its own clock.
func (m *model) takeableAt(r record) int {
	switch {
	case r.lease == 0:
		return 0
	case m.is(takerEarly):
		return int(r.lease) - m.cfg.skew
	case m.is(takerWaitsMore):
		return int(r.lease) + m.cfg.skew
	}
	return int(r.lease)
}

func (m *model) decideFor(i int, r record, now uint8) action {
	return m.decide(uint8(i+1), m.cfg.request[i], m.cfg.principal[i], r, int(now))
}

// loserAnswer: a fenced attempt's item is decided like a refused claim, without takeover.
func (m *model) loserAnswer(i int, r record, now uint8) answer {
	if m.is(loserBlind) && r.exists && r.status == completed {
		return ansReplay
	}
	switch m.decideFor(i, r, now) {
	case actUnknown:
		return ansUnavailable
	case actForbidden:
		return ansForbidden
	case actReused:
		return ansReused
	case actReplay:
		return ansReplay
	case actTake, actWait:
		// Correction 3 (README): what would be taken over is answered 409 in-progress; the client may come again.
		return ansInProgress
	}
	return ansOutcomeConflict // item gone, or policy Refuse
}

// refusalAnswer: the validate hook refused; one consistent read comes first, a live record decides.
func (m *model) refusalAnswer(i int, r record, now uint8) answer {
	switch m.decideFor(i, r, now) {
	case actUnknown:
		return ansUnavailable
	case actForbidden:
		return ansForbidden
	case actReused:
		return ansReused
	case actReplay:
		return ansReplay
	case actWait:
		return ansInProgress
	case actOutcome:
		return ansOutcomeConflict
	case actTake:
		if r.status == processing {
			return ansOutcomeConflict // Correction 4 (README): never a takeover for a refused request
		}
	}
	return ansRefused
}
