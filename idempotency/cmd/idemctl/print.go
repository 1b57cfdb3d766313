package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"firstwriter/idempotency"
)

// printable is a text for a terminal: as it stands, or quoted where something in it would not just print. What is in the
// table came from clients and handlers, and could move the cursor or hide the line above.
func printable(s string) string {
	if !utf8.ValidString(s) || strings.ContainsFunc(s, notPrinted) {
		return strconv.Quote(s)
	}
	return s
}

func notPrinted(r rune) bool { return !strconv.IsPrint(r) }

// printableLines is a text of several lines for a terminal.
func printableLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = printable(line)
	}
	return strings.Join(lines, "\n")
}

// writeJSON writes a value in a line. Beyond what encoding/json escapes, whatever would not just print is escaped too.
func writeJSON(out io.Writer, value any) error {
	var plain, safe bytes.Buffer
	if err := json.NewEncoder(&plain).Encode(value); err != nil {
		return err
	}
	for _, r := range plain.String() {
		switch {
		case r == '\n' || strconv.IsPrint(r):
			safe.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&safe, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&safe, `\u%04x`, r)
		}
	}
	_, err := safe.WriteTo(out)
	return err
}

// instant is a time of a record for people and programs: RFC 3339, and nothing where the attribute is missing or
// unreadable. A time that RFC 3339 cannot say is told as the number that the item holds.
func instant(t time.Time) string {
	t = t.UTC()
	switch {
	case t.IsZero():
		return ""
	case t.Year() < 0 || t.Year() > 9999:
		return fmt.Sprintf("no time: %d ms", t.UnixMilli())
	}
	return t.Format("2006-01-02T15:04:05.000Z")
}

// leaseText is the end of a lease for people.
func leaseText(v view) string {
	if v.LeaseUntil == instant(idempotency.Orphaned()) {
		return "given up by its run"
	}
	return v.LeaseUntil
}

// ago says how long ago something was, in seconds.
func ago(seconds *int64) string {
	switch {
	case seconds == nil:
		return ""
	case *seconds < 0:
		return age(-*seconds) + " in the future"
	}
	return age(*seconds) + " ago"
}

// age is a number of seconds for people: from two days on, in days and hours.
func age(seconds int64) string {
	const hour, day = 60 * 60, 24 * 60 * 60
	switch days, hours := seconds/day, seconds%day/hour; {
	case days < 2:
		return (time.Duration(seconds) * time.Second).String()
	case hours == 0:
		return fmt.Sprintf("%d days", days)
	default:
		return fmt.Sprintf("%d days %dh", days, hours)
	}
}

// count is a number for a row; nothing where it is 0.
func count(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
