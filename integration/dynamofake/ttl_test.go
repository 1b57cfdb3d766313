package dynamofake

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// number makes a member whose value is a time in Unix seconds.
func expiresAt(t time.Time) string { return fmt.Sprintf(`"e":{"N":"%d"}`, t.Unix()) }

const enableTTL = `{"TableName":"tab","TimeToLiveSpecification":{"AttributeName":"e","Enabled":true}}`

func TestExpiry(t *testing.T) {
	c := newClock()
	s := open(t, Options{Now: c.Now, TTLDelay: time.Minute})
	createTable(t, s, "tab", `"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"}`)
	put(t, s, "tab", "before TTL", expiresAt(c.Now().Add(-time.Hour)))
	mustCall(t, s, "UpdateTimeToLive", enableTTL)
	put(t, s, "tab", "past", expiresAt(c.Now().Add(-time.Hour)))
	put(t, s, "tab", "soon", expiresAt(c.Now().Add(time.Hour)))
	put(t, s, "tab", "moved", expiresAt(c.Now().Add(-time.Hour)))
	put(t, s, "tab", "moved", expiresAt(c.Now().Add(100*time.Hour)))
	put(t, s, "tab", "ancient", expiresAt(c.Now().Add(-6*365*24*time.Hour)))
	put(t, s, "tab", "text", `"e":{"S":"1"}`)
	put(t, s, "tab", "millis", fmt.Sprintf(`"e":{"N":"%d"}`, c.Now().UnixMilli()))
	put(t, s, "tab", "fraction", fmt.Sprintf(`"e":{"N":"%d.5"}`, c.Now().Unix()))

	there := func(when string, want ...string) {
		t.Helper()
		p, _ := askAll(t, s, "Scan", `{"TableName":"tab"`)
		got := map[string]bool{}
		for _, name := range p.field("pk") {
			got[name] = true
		}
		for _, name := range want {
			if !got[name] {
				t.Errorf("%s: %q is gone", when, name)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %v, want %v", when, got, want)
		}
	}
	rest := []string{"moved", "ancient", "text", "millis"}
	there("at once", append(rest, "before TTL", "past", "soon", "fraction")...)
	c.Advance(time.Minute - time.Second)
	there("before the delay", append(rest, "before TTL", "past", "soon", "fraction")...)
	c.Advance(time.Second)
	there("after the delay", append(rest, "soon")...)
	c.Advance(time.Hour)
	there("later", rest...)

	removed := 0
	for _, r := range streamRecords(t, s, "tab") {
		if r.EventName != "REMOVE" {
			continue
		}
		removed++
		if r.UserIdentity == nil || r.UserIdentity.PrincipalId != "dynamodb.amazonaws.com" || r.UserIdentity.Type != "Service" {
			t.Errorf("%+v", r)
		}
	}
	if removed != 4 {
		t.Errorf("%d records of expiry, want 4", removed)
	}
}

// An item of an open transaction does not expire under it.
func TestExpiryWaitsForTransaction(t *testing.T) {
	c := newClock()
	s := open(t, Options{Now: c.Now, TTLDelay: time.Minute})
	createTable(t, s, "tab", "")
	mustCall(t, s, "UpdateTimeToLive", enableTTL)
	put(t, s, "tab", "a", expiresAt(c.Now())+`,"n":{"N":"1"}`)

	r, err := decodeRequest([]byte(`{"TransactItems":[{"Update":{"TableName":"tab","Key":{"pk":{"S":"a"}},"UpdateExpression":"REMOVE n"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	tx, err := s.prepareTransaction(r)
	if err != nil {
		t.Fatal(err)
	}
	changes, err := s.hold(tx)
	if err != nil {
		t.Fatal(err)
	}
	c.Advance(time.Hour)
	if got := getItem(t, s, "tab", "a"); !strings.Contains(got, `"n":{"N":"1"}`) {
		t.Errorf("while the transaction is open: %s", got)
	}
	if _, _, err := s.finish(tx, changes, nil); err != nil {
		t.Fatal(err)
	}
	if got := getItem(t, s, "tab", "a"); got == "" || strings.Contains(got, `"n"`) {
		t.Errorf("after the transaction: %s", got)
	}
	c.Advance(time.Minute)
	equal(t, "after its delay", getItem(t, s, "tab", "a"), "")
}

// A negative delay is none: items go when they expire, not before.
func TestExpiryWithoutDelay(t *testing.T) {
	c := newClock()
	s := open(t, Options{Now: c.Now, TTLDelay: -time.Hour})
	createTable(t, s, "tab", "")
	mustCall(t, s, "UpdateTimeToLive", enableTTL)
	put(t, s, "tab", "a", expiresAt(c.Now().Add(time.Minute)))
	c.Advance(time.Minute - time.Second)
	if getItem(t, s, "tab", "a") == "" {
		t.Error("gone before it expired")
	}
	c.Advance(time.Second)
	equal(t, "expired", getItem(t, s, "tab", "a"), "")
}

// An item that expired can be updated until it is deleted.
func TestExpiredItemLives(t *testing.T) {
	c := newClock()
	s := open(t, Options{Now: c.Now, TTLDelay: time.Minute})
	createTable(t, s, "tab", "")
	mustCall(t, s, "UpdateTimeToLive", enableTTL)
	put(t, s, "tab", "a", expiresAt(c.Now()))
	c.Advance(30 * time.Second)
	mustCall(t, s, "UpdateItem", `{"TableName":"tab","Key":{"pk":{"S":"a"}},"UpdateExpression":"REMOVE e","ConditionExpression":"attribute_exists(pk)"}`)
	c.Advance(time.Hour)
	equal(t, "item", getItem(t, s, "tab", "a"), `{"pk":{"S":"a"}}`)
}

func TestTTLSettings(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "tab", "")
	const describe = `{"TableName":"tab"}`
	const disable = `{"TableName":"tab","TimeToLiveSpecification":{"AttributeName":"e","Enabled":false}}`
	equal(t, "disabled", mustCall(t, s, "DescribeTimeToLive", describe), `{"TimeToLiveDescription":{"TimeToLiveStatus":"DISABLED"}}`)
	equal(t, "disable", refused(t, s, "UpdateTimeToLive", disable), "ValidationException: TimeToLive is already disabled")
	equal(t, "enable", mustCall(t, s, "UpdateTimeToLive", enableTTL), `{"TimeToLiveSpecification":{"AttributeName":"e","Enabled":true}}`)
	equal(t, "enabled", mustCall(t, s, "DescribeTimeToLive", describe), `{"TimeToLiveDescription":{"TimeToLiveStatus":"ENABLED","AttributeName":"e"}}`)
	equal(t, "enable again", refused(t, s, "UpdateTimeToLive", enableTTL), "ValidationException: TimeToLive is already enabled")
	equal(t, "another attribute", refused(t, s, "UpdateTimeToLive", `{"TableName":"tab","TimeToLiveSpecification":{"AttributeName":"f","Enabled":true}}`), "ValidationException: TimeToLive is active on a different AttributeName: current AttributeName is e")
	mustCall(t, s, "UpdateTimeToLive", disable)
	equal(t, "disabled again", mustCall(t, s, "DescribeTimeToLive", describe), `{"TimeToLiveDescription":{"TimeToLiveStatus":"DISABLED"}}`)
	equal(t, "no table", refused(t, s, "DescribeTimeToLive", `{"TableName":"none"}`), "ResourceNotFoundException: Requested resource not found: Table: none not found")
	equal(t, "no attribute", refused(t, s, "UpdateTimeToLive", `{"TableName":"tab","TimeToLiveSpecification":{"Enabled":true}}`), "ValidationException: 1 validation error detected: Value '' at 'timeToLiveSpecification.attributeName' failed to satisfy constraint: Member must have length greater than or equal to 1")
}
