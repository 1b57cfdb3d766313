package dynamofake

import (
	"encoding/binary"
	"math/bits"
)

// maxSegments is the limit of TotalSegments (API reference, Scan).
const maxSegments = 1000000

// scan reads everything, or one segment, in the order of the keys' hashes.
func (s *Server) scan(r *request, out *writer) error {
	if err := r.checkReading(given{filterExpression, r.filter}); err != nil {
		return err
	}
	if err := r.checkSegments(); err != nil {
		return err
	}
	p := new(page)
	if _, err := s.bindPage(p, r); err != nil {
		return err
	}
	if err := s.openView(p, r); err != nil {
		return err
	}
	from, to := r.share()
	after, err := p.startOfScan(r, from, to)
	if err != nil {
		return err
	}
	if err := p.settle(r); err != nil {
		return err
	}
	return s.readPage(p, r, out, func() { p.view.between(from, to, after, p.visit) })
}

// checkSegments wants both parameters or none.
func (r *request) checkSegments() error {
	switch {
	case r.segment == nil && r.totalSegments == nil:
		return nil
	case r.segment == nil:
		return invalid("The Segment parameter is required but was not present in the request when parameter TotalSegments is present")
	case r.totalSegments == nil:
		return invalid("The TotalSegments parameter is required but was not present in the request when Segment parameter is present")
	case *r.segment >= *r.totalSegments:
		return invalid("The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: %d is not less than TotalSegments: %d", *r.segment, *r.totalSegments)
	}
	return nil
}

// share are the positions between which the scan's segment lies; to is "" for
// the end.
func (r *request) share() (from, to string) {
	if r.segment == nil {
		return "", ""
	}
	segment, total := uint64(*r.segment), uint64(*r.totalSegments)
	if segment > 0 {
		from = hashPosition(segment, total)
	}
	if segment+1 < total {
		to = hashPosition(segment+1, total)
	}
	return from, to
}

// hashPosition is the position of the hash that is part/total of the way.
func hashPosition(part, total uint64) string {
	quotient, _ := bits.Div64(part, 0, total) // part < total
	return string(binary.BigEndian.AppendUint64(nil, quotient))
}

// startOfScan checks the ExclusiveStartKey and returns its position.
func (p *page) startOfScan(r *request, from, to string) (string, error) {
	if r.startKey == nil {
		return "", nil
	}
	check := p.view.checkStart
	if p.view.index == nil {
		check = p.view.checkPrimary // in its own words
	}
	if err := check(r.startKey); err != nil {
		return "", err
	}
	after := p.view.position(r.startKey)
	if after < from || to != "" && after >= to {
		return "", invalid("The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct Segment. TotalSegments: %d Segment: %d", *r.totalSegments, *r.segment)
	}
	return after, nil
}

// between visits the entries from one position to another, behind the position
// after, until visit returns false.
func (v *view) between(from, to, after string, visit func(string, *record) bool) {
	v.entries.Ascend(max(from, after), func(key string, r *record) bool {
		switch {
		case key == after:
			return true
		case to != "" && key >= to:
			return false
		}
		return visit(key, r)
	})
}
