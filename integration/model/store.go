package main

// reply is what a conditional write reports.
type reply uint8

const (
	refused         reply = iota // our condition failed; the item comes back
	accepted                     //
	businessRefused              // transaction: ours None, a business condition failed
)

// epochsPerTick leaves room for several takeovers within one tick, as milliseconds do.
const epochsPerTick = 4

// epochAt is the fencing number of a claim at now; 0 is none.
func epochAt(now uint8) uint8 { return (now + 1) * epochsPerTick }

// apply runs one call on the store, atomically. bad names a broken invariant.
func (m *model) apply(s *state, i int, c call) (reply, string) {
	before := s.rec
	r, bad := m.write(s, i, c)
	if m.is(readNotConsistent) && s.rec != before {
		s.stale = before
	}
	return r, bad
}

func (m *model) write(s *state, i int, c call) (reply, string) {
	switch c.op {
	case opClaim:
		return m.claim(s, i, c)
	case opTakeover:
		return m.takeover(s, i, c)
	case opComplete, opTransact:
		return m.complete(s, i, c)
	}
	return m.ownerWrite(s, i, c)
}

// claim: PutItem if attribute_not_exists(id) OR (expires_at <= now - skew AND status IN (completed, released)
// AND v is readable). A processing record is never replaced.
func (m *model) claim(s *state, i int, c call) (reply, string) {
	r := &s.rec
	if r.exists && !m.is(claimUnconditional) {
		if !m.expired(*r, int(c.now)) && !m.is(claimNoExpiry) {
			return refused, ""
		}
		if r.status == processing && !m.is(claimAnyStatus) &&
			!(m.is(claimLeaseOver) && int(r.lease) <= int(c.now)) {
			return refused, ""
		}
		if r.version > currentVersion && !m.is(claimNoVersion) || r.version != currentVersion && m.is(claimVersionEqual) {
			return refused, ""
		}
	}
	bad := ""
	if r.exists && r.version == unknownVersion {
		bad = "V1: a record of an unknown version is overwritten"
	}
	if r.exists && r.status != processing {
		s.g.steps = false // the retention is over
	}
	s.rec = record{exists: true, version: currentVersion, status: processing, owner: uint8(i + 1),
		epoch: epochAt(c.now), request: m.cfg.request[i], principal: m.cfg.principal[i],
		lease: m.leaseFrom(c.now)}
	if m.is(epochFromOne) {
		s.rec.epoch = 1
	}
	s.rec.expires = m.processingExpiry(s.rec.lease)
	s.g.holder, s.g.letGo = uint8(i+1), false
	return accepted, bad
}

// takeover: UpdateItem if owner, epoch and status are as seen and, for a processing record, lease_until as seen.
func (m *model) takeover(s *state, i int, c call) (reply, string) {
	r := &s.rec
	if !r.exists || r.owner != c.seenOwner && !m.is(takeoverNoOwner) ||
		r.epoch != c.seenEpoch && !m.is(takeoverNoEpoch) || // correction 8 (README)
		r.status != c.seenStatus && !m.is(takeoverNoStatus) ||
		c.seenStatus == processing && r.lease != c.seenLease && !m.is(takeoverNoLease) ||
		c.seenStatus == processing && r.steps != c.seenSteps && !m.is(takeoverNoSteps) {
		return refused, ""
	}
	bad := ""
	switch {
	case r.request != m.cfg.request[i]:
		bad = "P1: a mismatched request takes over"
	case r.principal != m.cfg.principal[i]:
		bad = "P1: another principal takes over"
	case r.status == completed:
		bad = "R1: a takeover undoes a completed record"
	}
	r.owner, r.status = uint8(i+1), processing
	switch {
	case m.is(takeoverEpochNow):
		r.epoch = epochAt(c.now)
	case m.is(takeoverEpochIncrement):
		r.epoch = c.seenEpoch + 1
	default:
		r.epoch = max(c.seenEpoch+1, epochAt(c.now))
	}
	r.lease = m.leaseFrom(c.now)
	if !m.is(takeoverKeepsExpiry) {
		r.expires = m.processingExpiry(r.lease)
	}
	s.g.holder, s.g.letGo = uint8(i+1), false
	return accepted, bad
}

// mine is the condition of every write of an owner: owner = :me AND status = :processing.
func mine(r *record, i int, noOwner, noStatus bool) bool {
	return r.exists && (noOwner || r.owner == uint8(i+1)) && (noStatus || r.status == processing)
}

// complete: the completion alone, or in one transaction with the business writes.
func (m *model) complete(s *state, i int, c call) (reply, string) {
	r := &s.rec
	if c.op == opTransact && m.is(businessFirst) && m.businessFails(s) {
		return businessRefused, ""
	}
	if !mine(r, i, m.is(completeNoOwner), m.is(completeNoStatus)) && !(m.is(completeRecreates) && !r.exists) {
		return refused, ""
	}
	if c.op == opTransact && m.businessFails(s) && !m.is(businessApart) {
		return businessRefused, ""
	}
	bad := m.checkAcceptance(s, i, c)
	expires := c.now + uint8(m.cfg.retention)
	if m.is(completeKeepsExpiry) {
		expires = r.expires
	}
	r.exists, r.status, r.lease, r.expires, r.steps = true, completed, absent, expires, false
	r.answer, r.kind = uint8(i+1), c.kind
	g := &s.g
	g.accepted[i]++
	g.kind[i] = c.kind
	g.last, g.lastExpires, g.unresolved, g.steps = uint8(i+1), r.expires, false, false
	if c.op == opTransact && !m.is(businessApart) {
		m.writeBusiness(s, i)
	}
	return accepted, bad
}

func (m *model) writeBusiness(s *state, i int) {
	s.g.written[i]++
	s.g.row = !m.cfg.blind
}

// businessFails: the payment exists already, or others made the condition fail.
func (m *model) businessFails(s *state) bool { return s.g.row || s.g.low }

// ownerWrite is extend, checkpoint, release and orphan at once.
func (m *model) ownerWrite(s *state, i int, c call) (reply, string) {
	r, g := &s.rec, &s.g
	noOwner := c.op == opExtend && m.is(extendNoOwner) || c.op == opCheckpoint && m.is(checkpointNoOwner) ||
		c.op == opRelease && m.is(releaseNoOwner) || c.op == opOrphan && m.is(orphanNoOwner)
	noStatus := c.op == opExtend && m.is(extendNoStatus) || c.op == opCheckpoint && m.is(checkpointNoStatus) ||
		c.op == opRelease && m.is(releaseNoStatus) || c.op == opOrphan && m.is(orphanNoStatus)
	if !mine(r, i, noOwner, noStatus) {
		return refused, ""
	}
	// Correction 1 (README): a renewal also asks that lease_until is what the owner knows.
	if c.op == opExtend && r.lease != c.seenLease && !m.is(extendBlind) &&
		!(m.is(extendOnlyGrows) && r.lease < m.leaseFrom(c.now)) {
		return refused, ""
	}
	bad := ""
	switch {
	case g.holder != uint8(i+1):
		bad = "R2: a fenced attempt writes: " + opNames[c.op]
	case r.status == completed:
		bad = "R1: a completed record is changed: " + opNames[c.op]
	}
	switch c.op {
	case opExtend:
		r.lease = m.leaseFrom(c.now)
		if !m.is(extendKeepsExpiry) {
			r.expires = m.processingExpiry(r.lease)
		}
	case opCheckpoint:
		r.steps, g.steps = true, true
		s.a[i].knows = true
	case opOrphan:
		r.lease = 0
		if m.cfg.policy != refuse {
			g.letGo = true
		}
	case opRelease:
		g.letGo = true
		if c.known {
			g.unresolved = false
		}
		if m.is(releaseDeletes) {
			s.rec = record{}
			break
		}
		r.status, r.lease = released, absent
		if !m.is(releaseKeepsExpiry) {
			r.expires = c.now + uint8(m.cfg.retention)
		}
	}
	return accepted, bad
}

// leaseFrom is the lease_until written by an operation at now: the margin is added once.
func (m *model) leaseFrom(now uint8) uint8 {
	if m.is(leaseNoMargin) {
		return now + uint8(m.cfg.lease)
	}
	return now + uint8(m.cfg.lease+m.cfg.skew)
}

// processingExpiry is far after the lease, never under Refuse.
func (m *model) processingExpiry(lease uint8) uint8 {
	if m.cfg.policy == refuse && !m.is(refuseExpires) {
		return 0
	}
	switch {
	case m.is(expiryWithLease):
		return lease
	case m.is(expiryMarginOnce):
		return lease + uint8(m.cfg.skew)
	}
	return lease + uint8(m.cfg.rest)
}

// expired says that a claim may take the record for absent: expires_at <= now - skew.
func (m *model) expired(r record, now int) bool {
	skew := m.cfg.skew
	if m.is(expiryNoMargin) {
		skew = 0
	}
	return r.expires != 0 && int(r.expires) <= now-skew
}
