package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"firstwriter/idempotency"
)

// previewed is how much of a body is shown before it is recorded, in bytes.
const previewed = 200

// tellClocks tells of a difference between the clocks that is more than a slow answer and whole seconds make.
func tellClocks(out io.Writer, c idempotency.Clocks) {
	switch ahead := c.Ahead().Round(time.Second); {
	case ahead > 3*time.Second:
		fmt.Fprintf(out, "this machine's clock is %v ahead of the database's\n", ahead)
	case ahead < -3*time.Second:
		fmt.Fprintf(out, "this machine's clock is %v behind the database's\n", -ahead)
	}
}

// announce says what a resolution will do, and for how long.
func (c *change) announce(w idempotency.Resolution) string {
	until := fmt.Sprintf("until %s (--retention %v)", instant(w.ExpiresAt), c.retention)
	n := len(w.Seen.Steps)
	switch {
	case w.Response == nil && n > 0:
		return fmt.Sprintf("%s\nIts key is kept for it until %s, with its steps, and is new after that.", announceRerun(w.Seen), instant(w.ExpiresAt))
	case w.Response == nil:
		return announceRerun(w.Seen) + "\nIts key is kept for it " + until + ", and is new after that."
	}
	text := fmt.Sprintf("Every retry %s will get this response:\n%s"+
		"That is right only if you know that the operation came to this. Writes that its handler enlists are not made.",
		until, responseText(w.Response, !c.yes))
	if n > 0 {
		text += fmt.Sprintf("\nThis forgets its %s, and undoes none.", recordedSteps(n))
	}
	for _, doubt := range doubts(w.Response) {
		text += "\nWarning: " + doubt
	}
	return text
}

// announceRerun says what the next retry of a released record will do.
func announceRerun(seen *idempotency.Record) string {
	switch n := len(seen.Steps); {
	case seen.Compensating():
		return "The operation failed for good. The next retry will go on with undoing its steps."
	case n > 0:
		return fmt.Sprintf("The next retry will run the operation again, but for its %s. That is right only if you know that\n"+
			"what the run before did after that took no effect, or is safe to repeat.", recordedSteps(n))
	}
	return "The next retry will run the operation again. That is right only if you know that the run before took no effect, or that\n" +
		"its effects are safe to repeat."
}

func recordedSteps(n int) string {
	if n == 1 {
		return "1 recorded step"
	}
	return fmt.Sprintf("%d recorded steps", n)
}

// responseText shows a response line by line. The first bytes of its body are shown to somebody who is asked, not to a script's
// log.
func responseText(r *idempotency.Response, preview bool) string {
	var text strings.Builder
	fmt.Fprintf(&text, "  status %d\n", r.Status)
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		for _, value := range r.Header[name] {
			fmt.Fprintf(&text, "  %s\n", printable(name+": "+value))
		}
	}
	fmt.Fprintf(&text, "  body of %d bytes\n", len(r.Body))
	if preview && len(r.Body) > 0 {
		text.WriteString("  | " + strings.ReplaceAll(printableLines(beginning(r.Body)), "\n", "\n  | ") + "\n")
	}
	return text.String()
}

// beginning is the first bytes of a body, cut between characters.
func beginning(body []byte) string {
	if len(body) <= previewed {
		return strings.TrimSuffix(string(body), "\n")
	}
	n := previewed
	for n > previewed-utf8.UTFMax && !utf8.RuneStart(body[n]) {
		n--
	}
	return string(body[:n]) + " …"
}

// doubts are what is allowed, and hardly ever meant.
func doubts(r *idempotency.Response) (found []string) {
	if len(r.Body) > 0 && r.Header.Get("Content-Type") == "" {
		found = append(found, "the body has no Content-Type; give one by --header, as in --header 'Content-Type: application/json'")
	}
	if idempotency.DispositionByStatus(r) != idempotency.Keep {
		found = append(found, fmt.Sprintf("status %d is not final: guards do not record it unless they are told to, and every retry will get it for good", r.Status))
	}
	return found
}
