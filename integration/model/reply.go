package main

// reply hands the store's answer to attempt i; before is the item as the condition saw it.
func (m *model) reply(s *state, i int, c call, r reply, before record) string {
	switch c.op {
	case opClaim, opTakeover:
		if r == accepted {
			m.hold(s, i, s.rec, c)
			s.a[i].knows = c.op == opTakeover && c.seenSteps
			return ""
		}
		return m.claimRefused(s, i, c, before)
	case opComplete, opTransact:
		return m.completeReply(s, i, c, r, before)
	case opRelease, opOrphan:
		if r == refused && ownCompleted(before, i) && !m.is(orphanIgnoresItem) {
			return m.finish(s, i, recorded(before.kind), before, c.now) // correction 6
		}
		return m.finish(s, i, s.a[i].then, before, c.now)
	}
	return m.renewReply(s, i, c, r, before)
}

// hold: the claim is mine; r is the record that says so.
func (m *model) hold(s *state, i int, r record, c call) {
	a := &s.a[i]
	a.phase, a.tries, a.lease, a.epoch = holding, 0, r.lease, r.epoch
	a.tookOrphan = c.op == opTakeover && c.seenStatus == processing
	a.call = call{}
}

// claimRefused decides on the item that came with the refusal of a claim or takeover, or that was polled.
func (m *model) claimRefused(s *state, i int, c call, r record) string {
	tell := func(x answer) string {
		bad := m.checkClaimAnswer(s, i, x, r)
		if bad2 := m.finish(s, i, x, r, c.now); bad == "" {
			bad = bad2
		}
		return bad
	}
	switch m.decideFor(i, r, c.now) {
	case actClaim:
		if c.op == opClaim && r.exists {
			return "L4: the condition refuses a claim that the decision asks for"
		}
		m.send(s, i, call{op: opClaim})
	case actHold:
		m.hold(s, i, r, c)
		s.a[i].knows = r.steps
	case actTake:
		s.a[i].phase, s.a[i].tries = calling, 0
		s.a[i].call = call{op: opTakeover, now: c.now, seenOwner: r.owner, seenStatus: r.status,
			seenLease: r.lease, seenEpoch: r.epoch, seenSteps: r.steps}
	case actUnknown:
		return tell(ansUnavailable)
	case actForbidden:
		return tell(ansForbidden)
	case actReused:
		return tell(ansReused)
	case actReplay:
		return tell(ansReplay)
	case actWait:
		return tell(ansInProgress)
	case actOutcome:
		return tell(ansOutcomeConflict)
	}
	return ""
}

// ownCompleted: the item holds my completion.
func ownCompleted(r record, i int) bool {
	return r.exists && r.owner == uint8(i+1) && r.status == completed
}

// recorded is the answer that the item holds for its owner.
func recorded(kind uint8) answer {
	if kind == kindBusiness {
		return ansOwnBusiness
	}
	return ansOwn
}

func (m *model) completeReply(s *state, i int, c call, r reply, before record) string {
	bad := ""
	switch {
	case r == accepted && m.is(businessApart) && c.op == opTransact:
		// the completion is in, the business writes are sent on their own and may fail
		if !m.businessFails(s) {
			m.writeBusiness(s, i)
		}
		return m.finish(s, i, recorded(c.kind), before, c.now)
	case r == accepted:
		return m.finish(s, i, recorded(c.kind), before, c.now)
	case r == businessRefused && m.cfg.businessAnswer:
		// Correction 6 (README): the business answer is recorded by a plain completion.
		if m.is(businessAnswerReleases) {
			s.a[i].then = ansUnrecordedBiz
			m.send(s, i, call{op: opRelease, known: true})
			return ""
		}
		m.send(s, i, call{op: opComplete, kind: kindBusiness})
		return ""
	case r == businessRefused:
		s.a[i].then = ansOrphaned
		m.send(s, i, call{op: opOrphan})
		return ""
	case ownCompleted(before, i) && !m.is(ownCompletionUnknown):
		// It was my write: success, with the response that the item holds.
		kind := before.kind
		if m.is(ownCompletionInHand) {
			kind = c.kind
		}
		return m.finish(s, i, recorded(kind), before, c.now)
	case m.is(loserTakesOver):
		return m.claimRefused(s, i, c, before)
	}
	if bad2 := m.finish(s, i, m.loserAnswer(i, before, c.now), before, c.now); bad == "" {
		bad = bad2
	}
	return bad
}

// renewReply answers a renewal or a checkpoint: a fenced one stops the handler.
func (m *model) renewReply(s *state, i int, c call, r reply, before record) string {
	a := &s.a[i]
	if r != accepted && !mine(&before, i, false, false) {
		return m.finish(s, i, ansOrphaned, before, c.now)
	}
	if c.op == opExtend {
		a.lease = s.rec.lease // also where my own lost acknowledgement refused it
	}
	a.phase, a.tries, a.call = running, 0, call{}
	return ""
}

// readAnswer decides on a consistent read.
func (m *model) readAnswer(s *state, i int, c call, r record) string {
	switch c.kind {
	case readPoll:
		return m.claimRefused(s, i, c, r)
	case readValidate:
		if m.decideFor(i, r, c.now) == actTake && m.is(validateTakesOver) {
			return m.claimRefused(s, i, c, r)
		}
		return m.finish(s, i, m.refusalAnswer(i, r, c.now), r, c.now)
	}
	x := ansOutcomeUnknown
	switch {
	case mine(&r, i, false, false):
	case ownCompleted(r, i):
		x = recorded(r.kind)
	default:
		x = m.loserAnswer(i, r, c.now)
	}
	return m.finish(s, i, x, r, c.now)
}

// budgetOver: the current call stays unanswered.
func (m *model) budgetOver(s *state, i int) string {
	a := &s.a[i]
	c := a.call
	switch c.op {
	case opClaim, opTakeover:
		// One best-effort release. Correction 5: after a takeover from a processing record, an orphaning.
		next := call{op: opRelease}
		if c.op == opTakeover && c.seenStatus == processing && !m.is(letGoReleases) {
			next.op = opOrphan
		}
		a.then = ansUnavailable
		m.send(s, i, next)
		return ""
	case opComplete:
		return m.notRecorded(s, i, c)
	case opTransact:
		switch {
		case m.is(unknownIsSuccess):
			return m.finish(s, i, ansOwn, s.rec, c.now)
		case m.is(unknownReleases):
			a.then = ansFailed
			m.send(s, i, call{op: opRelease, known: true})
			return ""
		case m.is(unknownReleases503):
			a.then = ansOutcomeUnknown
			m.send(s, i, call{op: opRelease, known: true})
			return ""
		case m.is(unknownNoRead):
			return m.finish(s, i, ansOutcomeUnknown, s.rec, c.now)
		}
		m.send(s, i, call{op: opRead, kind: readOutcome})
		return ""
	case opRelease, opOrphan:
		return m.finish(s, i, a.then, record{}, c.now) // no item came back
	case opRead:
		if c.kind == readOutcome {
			return m.finish(s, i, ansOutcomeUnknown, s.rec, c.now)
		}
		return m.finish(s, i, ansUnavailable, s.rec, c.now)
	}
	a.phase, a.tries, a.call = running, 0, call{} // a renewal or checkpoint: the handler goes on to its deadline
	return ""
}

// notRecorded: a plain completion fails for good. The caller gets the handler's real response, unless a
// transaction of this attempt may still be accepted (correction 6).
func (m *model) notRecorded(s *state, i int, c call) string {
	x := ansUnrecorded
	if c.kind == kindBusiness {
		x = ansUnrecordedBiz
	}
	if s.a[i].unanswered && !m.is(businessAnswerAnyway) {
		x = ansOutcomeUnknown
	}
	return m.finish(s, i, x, s.rec, c.now)
}
