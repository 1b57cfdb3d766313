package simulation

import (
	"errors"
	"time"

	"firstwriter/idempotency"
)

// flaws are mistakes in the protocol, and the invariants that may notice them. Those that change what happens
// to callers are found without comparing calls with the specification; that is switched off for them.
var flaws = []struct {
	Flaw
	codes string
}{
	{dropped("F01 claims without a condition", claiming, "attribute_not_exists(id) OR (", "attribute_not_exists(id) OR attribute_exists(id) OR ("), "R1 R2 T2"},
	{dropped("F21 claims before the expiry", claiming, "expires_at <= :before AND", "expires_at <> :before AND"), "R3 R4"},
	{dropped("F98 takes over from a completed record", takingOver, "#owner = :seen_owner AND epoch = :seen_epoch AND #status = :seen_status", "(#owner = :seen_owner OR epoch = :seen_epoch OR #status = :seen_status OR attribute_exists(id))"), "R1 R2"},
	{dropped("F85 takeovers leave the expiry", takingOver, ", expires_at = :expires", ", expired = :expires"), "T3"},
	{dropped("F11 completes without the owner", completing, "#owner = :me AND", "(#owner = :me OR attribute_exists(id)) AND"), "R2 C1"},
	{dropped("F09 completes without the status", completing, "AND #status = :processing", "AND (#status = :processing OR attribute_exists(id))"), "R1 R3"},
	{dropped("F12 releases without the owner", releasing, "#owner = :me AND", "(#owner = :me OR attribute_exists(id)) AND"), "R2 T2"},
	{dropped("F84 orphans without the owner", orphaning, "#owner = :me AND", "(#owner = :me OR attribute_exists(id)) AND"), "R2 T2"},
	{dropped("F91 renews without the owner and the lease known", extending, "#owner = :me AND #status = :processing AND lease_until = :known", "(#owner = :me OR lease_until = :known OR attribute_exists(id)) AND #status = :processing"), "R2"},
	{stored("F22 the expiry has no margin", func(s *faulty) { s.claim = func(w *idempotency.Claim) { w.Skew = 0 } }), "R3 R4"},
	{stored("F82 processing records expire with their lease", func(s *faulty) {
		s.claim = func(w *idempotency.Claim) { w.Record.ExpiresAt = w.Record.LeaseUntil.Add(-time.Second) }
		s.takeover = func(w *idempotency.Takeover) { w.ExpiresAt = w.LeaseUntil.Add(-time.Second) }
	}), "T3"},
	{stored("F20 leases end before their owners stop", func(s *faulty) {
		s.claim = func(w *idempotency.Claim) { w.Record.LeaseUntil = w.Record.LeaseUntil.Add(-2500 * time.Millisecond) }
		s.takeover = func(w *idempotency.Takeover) { w.LeaseUntil = w.LeaseUntil.Add(-2500 * time.Millisecond) }
	}), "T2"},
	{stored("F18 leases are in seconds", func(s *faulty) {
		s.claim = func(w *idempotency.Claim) { w.Record.LeaseUntil = time.UnixMilli(w.Record.LeaseUntil.Unix()) }
	}), "T2"},
	{stored("F63 unanswered is accepted", func(s *faulty) {
		s.completed = func(err error) error {
			if known(err) {
				return err
			}
			return nil
		}
	}), "C1"},
	{stored("F88 fenced is accepted", func(s *faulty) {
		s.completed = func(err error) error {
			if errors.Is(err, idempotency.ErrRefused) {
				return nil
			}
			return err
		}
	}), "C1"},
	{stored("F05 unanswered claims are held", func(s *faulty) {
		s.claimed = func(err error) error {
			if known(err) {
				return err
			}
			return nil
		}
	}), "T4 R2"},
	{stored("F08 enlisted writes are forgotten", func(s *faulty) { s.alone = true }), "B1"},
	{stored("F37 every request looks like the first", func(s *faulty) {
		s.found = func(r, mine *idempotency.Record) { r.Fingerprint = mine.Fingerprint }
	}), "P1 P2 P3"},
	{stored("F44 every caller looks like the first", func(s *faulty) {
		s.found = func(r, mine *idempotency.Record) { r.Principal = mine.Principal }
	}), "P1 P2 P3"},
	{stored("F87 orphans are taken for released", func(s *faulty) {
		s.found = func(r, _ *idempotency.Record) {
			if r.LeaseUntil.Equal(idempotency.Orphaned()) {
				r.Status = idempotency.Released
			}
		}
		s.seen = func(r *idempotency.Record) {
			if r.LeaseUntil.Equal(idempotency.Orphaned()) {
				r.Status = idempotency.Processing
			}
		}
	}), "O1"},
	{stored("F19 leases are taken for over", func(s *faulty) {
		s.found = func(r, _ *idempotency.Record) { r.LeaseUntil = r.LeaseUntil.Add(-2500 * time.Millisecond) }
		s.seen = func(r *idempotency.Record) { r.LeaseUntil = r.LeaseUntil.Add(2500 * time.Millisecond) }
	}), "T2 P3"},
	{stored("F04 own records are not recognised", func(s *faulty) {
		s.found = func(r, mine *idempotency.Record) {
			if r.Owner == mine.Owner {
				r.Owner = "somebody"
			}
		}
	}), "L1 C1 C2"},
	{Flaw{Name: "F32 bodies of a key share a place", Request: shared("#body#")}, "L4"},
	{dropped("F11 records stages without the owner", checkpointing, "#owner = :me AND", "(#owner = :me OR attribute_exists(id)) AND"), "R2"},
	{dropped("F09 records stages again", checkpointing, "size(steps) = :steps", "(size(steps) = :steps OR attribute_exists(id))"), "E1"},
	{dropped("F09 records first stages again", checkpointing, "AND attribute_not_exists(steps)", "AND (attribute_not_exists(steps) OR attribute_exists(id))"), "E1"},
	{dropped("F07 releases forget stages", releasing, "REMOVE lease_until", "REMOVE steps, lease_until"), "E1"},
	{dropped("F07 takes over without a look at late stages", takingOver, " AND attribute_not_exists(steps)", ""), "E1 E2"},
	{stored("F08 stages forget what they enlisted", func(s *faulty) { s.alone = true }), "B1 B3"},
	{stored("F65 undos are not recorded", func(s *faulty) { s.skips = "undo:" }), "E4"},
	{stored("F65 undos begin before the failure is recorded", func(s *faulty) { s.skips = "failed:" }), "E3"},
	{stored("F63 unanswered stages are taken for recorded", func(s *faulty) {
		s.recorded = func(_ string, err error) error {
			if known(err) {
				return err
			}
			return nil
		}
	}), "E1 E2"},
	{stored("F88 fenced stages are taken for recorded", func(s *faulty) {
		s.recorded = func(_ string, err error) error {
			if errors.Is(err, idempotency.ErrRefused) {
				return nil
			}
			return err
		}
	}), "E2"},
	{Flaw{Name: "F32 results of stages share a place", Request: shared("#step#")}, "L3"},
	{compared(dropped("F86 takes over without the lease seen", takingOver, "lease_until = :seen_lease", "(lease_until = :seen_lease OR attribute_exists(id))")), "S1"},
	{compared(dropped("F14 renews without the lease known", extending, "lease_until = :known", "(lease_until = :known OR attribute_exists(id))")), "S1"},
	{compared(dropped("F85 releases leave the expiry", releasing, "expires_at = :expires", "expired = :expires")), "S2"},
}
