package main

// recorded response that the store may still hold, on the clock that deems it expired first
func (m *model) inRetention(s *state) bool {
	return s.g.last != 0 && int(s.t)+m.lead < int(s.g.lastExpires)
}

// checkAcceptance is run when a completion is about to be accepted.
func (m *model) checkAcceptance(s *state, i int, c call) string {
	g, a := &s.g, &s.a[i]
	switch {
	case g.holder != uint8(i+1):
		return "R2: a fenced attempt completes"
	case g.accepted[i] > 0:
		return "R3: one attempt's completion is accepted twice"
	case m.inRetention(s):
		return "R3: a second completion is accepted within the retention"
	case s.rec.exists && s.rec.status != processing:
		return "R1: a record that is not processing is completed"
	case a.phase == done && !compatible(a.answer, c.kind):
		return "C2: accepted after the client was told " + answerNames[a.answer]
	}
	return ""
}

// compatible says whether an accepted completion and what the client was told agree.
func compatible(a answer, kind uint8) bool {
	switch a {
	case ansOwn, ansUnrecorded:
		return kind == kindMain
	case ansOwnBusiness, ansUnrecordedBiz:
		return kind == kindBusiness
	case ansOutcomeUnknown, ansOrphaned:
		return true // told that it is not known
	}
	return false
}

// checkAnswer is run when the client is told something; r is the record that led to it.
func (m *model) checkAnswer(s *state, i int, a answer, r record, now uint8) string {
	g, cfg := &s.g, m.cfg
	me := uint8(i + 1)
	if g.accepted[i] > 0 && g.last == me && m.inRetention(s) && !compatible(a, g.kind[i]) {
		return "C2: accepted, but the client is told " + answerNames[a]
	}
	if r.exists && r.version == unknownVersion && a != ansUnavailable {
		return "V1: a record of an unknown version is interpreted"
	}
	switch a {
	case ansOrphaned, ansFailed:
		if r.exists && r.owner == me && r.status == completed {
			return "C2: the item that came back holds its response, the client is told " + answerNames[a]
		}
	case ansOwn, ansOwnBusiness:
		if g.accepted[i] == 0 {
			return "C1: the client is told a recorded response, nothing is recorded"
		}
		if a == ansOwn && cfg.transact && g.written[i] == 0 {
			return "C1: the client is told 201, its business write is not committed"
		}
	case ansUnrecorded:
		if cfg.transact && g.written[i] == 0 {
			return "C1: the client is told 201, its business write is not committed"
		}
	case ansReplay:
		switch {
		case r.principal != cfg.principal[i]:
			return "P2: replay to another principal"
		case r.request != cfg.request[i]:
			return "P2: replay to a mismatched request"
		case r.answer != 0 && g.accepted[r.answer-1] == 0:
			return "C1: replay of something never accepted"
		case int(r.expires) <= int(now)-cfg.skew:
			return "T1: replay after the retention"
		}
	case ansReused, ansInProgress, ansOutcomeConflict:
		if m.expired(r, int(now)) && r.status != processing {
			break // as good as absent
		}
		if r.exists && r.principal != cfg.principal[i] {
			return "P3: another principal is told more than 403"
		}
		if r.exists && a != ansReused && r.request != cfg.request[i] {
			return "P3: a mismatched request is not told 422"
		}
	case ansRefused:
		switch {
		case !s.rec.exists || s.rec.request != cfg.request[i] || s.rec.principal != cfg.principal[i]:
		case s.rec.status == completed && !m.expired(s.rec, int(now)):
			return "C3: a retry is refused by rules, its operation is recorded"
		case s.rec.status == processing && g.unresolved:
			return "C3: a retry is refused by rules, an earlier run's outcome is not known"
		}
	}
	return ""
}

// checkClaimAnswer is run for answers of the claim phase.
func (m *model) checkClaimAnswer(s *state, i int, a answer, r record) string {
	if a != ansInProgress && a != ansOutcomeConflict {
		return ""
	}
	if r.owner == uint8(i+1) {
		return "L1: an attempt is answered " + answerNames[a] + " because of its own write"
	}
	if s.g.letGo && s.rec == r {
		return "L2: the holder let go, the next attempt is told " + answerNames[a]
	}
	return ""
}

// checkStart is run when a handler or a recovery function starts.
func (m *model) checkStart(s *state, i int, recovery bool) string {
	a, g := &s.a[i], &s.g
	switch {
	case m.cfg.refused[i]:
		return "C4: the handler runs for a request that the hook refuses"
	case !m.leaseLeft(s, i):
		return noLease
	case a.ran:
		return "C4: the handler runs twice in one attempt"
	case m.within && a.epoch <= g.maxEpoch:
		return "F1: fencing number not above that of an earlier run"
	case !recovery && g.unresolved && m.cfg.policy != rerun:
		return "O1: a handler runs again, an earlier run's outcome is not known"
	case s.rec.exists && s.rec.owner == uint8(i+1) && g.steps && !s.rec.steps:
		return "S1: recorded steps are lost"
	case s.rec.exists && s.rec.owner == uint8(i+1) && s.rec.steps && !a.knows:
		return "S2: the holder does not know a recorded step"
	case m.within && m.inRetention(s):
		return "R4: a handler starts although a completion is recorded"
	}
	return ""
}

func (m *model) live(s *state, i int) bool {
	p := s.a[i].phase
	return (p == running || p == recovering || p == calling && (s.a[i].call.op == opExtend || s.a[i].call.op == opCheckpoint)) &&
		m.leaseLeft(s, i)
}

const noLease = "T4: a handler starts with no lease left"

// leaseLeft: the owner may work until the margin before lease_until, on its own clock.
func (m *model) leaseLeft(s *state, i int) bool {
	return m.clock(s, i) < int(s.a[i].lease)-m.margin()
}

// margin is how much before lease_until the owner stops.
func (m *model) margin() int {
	if m.is(ownerNoMargin) || m.is(leaseNoMargin) {
		return 0
	}
	return m.cfg.skew
}

// invariant holds in every state.
func (m *model) invariant(s *state) string {
	if m.within {
		n := 0
		for i := range m.cfg.attempts {
			if m.live(s, i) {
				n++
			}
		}
		if n > 1 {
			return "T2: two handlers run within their leases"
		}
	}
	for i := range m.cfg.attempts {
		if s.g.written[i] > 1 {
			return "R3: a business write is applied twice"
		}
		if s.g.written[i] > s.g.accepted[i] {
			return "C1: a business write without its completion"
		}
	}
	return m.progress(s.rec)
}

// progress: whoever comes when everybody else has stopped gets an answer that is not a wait.
func (m *model) progress(r record) string {
	if !r.exists || r.version == unknownVersion {
		return ""
	}
	fresh := func(now int) action { return m.decide(255, r.request, r.principal, r, now) }
	switch r.status {
	case processing:
		if x := fresh(int(r.lease)); x != actTake && !(m.cfg.policy == refuse && x == actOutcome) {
			return "L3: stuck after the lease"
		}
	case released:
		if fresh(0) != actTake {
			return "L3: stuck on a released record"
		}
	}
	if r.status != processing && r.expires == 0 {
		return "L3: the key is never new again"
	}
	return ""
}
