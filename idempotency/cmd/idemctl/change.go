package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"firstwriter/idempotency"
	"firstwriter/idempotency/dynamostore"
)

// maxBody is what Lambda can answer with, in bytes.
const maxBody = 6 << 20

// change is a command that settles an orphan.
type change struct {
	lookup
	yes       bool
	retention time.Duration

	status int
	header http.Header
	body   string // a file, or - for standard input
	rerun  bool
}

func (c *change) define(flags *flag.FlagSet) {
	c.lookup.define(flags)
	flags.BoolVar(&c.yes, "yes", false, "do not ask")
	flags.DurationVar(&c.retention, "retention", idempotency.DefaultRetention, "how long the record answers retries from now on: the guard's Retention")
}

func (c *change) defineResponse(flags *flag.FlagSet) {
	c.header = http.Header{}
	flags.IntVar(&c.status, "status", 0, "status of the response that retries get")
	flags.StringVar(&c.body, "body", "", "`file` with its body; - is standard input, and then --yes is needed")
	flags.BoolVar(&c.rerun, "rerun", false, "record no response: let the next retry run the operation")
	flags.Func("header", "`'Name: value'` of the response; may be given several times", func(text string) error {
		name, value, ok := strings.Cut(text, ":")
		if !ok || name == "" {
			return errors.New("a header is given as Name: value")
		}
		c.header.Add(name, strings.TrimSpace(value))
		return nil
	})
}

// runRelease lets an orphan's operation run again.
func runRelease(ctx context.Context, e environment, flags *flag.FlagSet, args []string) error {
	c := change{rerun: true}
	c.define(flags)
	id, err := parse(flags, args)
	if err != nil {
		return err
	}
	return c.run(ctx, e, id, nil)
}

// runResolve records a response as an orphan's outcome, or lets its operation run again.
func runResolve(ctx context.Context, e environment, flags *flag.FlagSet, args []string) error {
	var c change
	c.define(flags)
	c.defineResponse(flags)
	id, err := parse(flags, args)
	if err != nil {
		return err
	}
	response, err := c.response(e)
	if err != nil {
		return err
	}
	return c.run(ctx, e, id, response)
}

// response is the one that the command line gives; nil under --rerun.
func (c *change) response(e environment) (*idempotency.Response, error) {
	given := c.status != 0 || c.body != "" || len(c.header) > 0
	switch {
	case c.rerun && given:
		return nil, usageError{"--rerun records no response: leave out --status, --header and --body"}
	case c.rerun:
		return nil, nil
	case c.status == 0:
		return nil, usageError{"give the response that retries shall get, by --status, --header and --body; or --rerun"}
	case c.body == "-" && c.key == "-":
		return nil, usageError{"standard input cannot hold both the key and the body"}
	case c.body == "-" && !c.yes:
		return nil, usageError{"a body from standard input leaves nothing to answer the question with: add --yes"}
	}
	body, err := readBody(c.body, e.in)
	return &idempotency.Response{Status: c.status, Header: c.header, Body: body}, err
}

func readBody(name string, stdin io.Reader) ([]byte, error) {
	from := stdin
	switch name {
	case "":
		return nil, nil
	case "-":
	default:
		f, err := os.Open(name)
		if err != nil {
			return nil, usageError{"--body: " + err.Error()}
		}
		defer f.Close()
		from = f
	}
	var body bytes.Buffer
	if _, err := body.ReadFrom(io.LimitReader(from, maxBody+1)); err != nil {
		return nil, fmt.Errorf("body: %w", err)
	}
	if body.Len() > maxBody {
		return nil, usageError{fmt.Sprintf("--body: a response has at most %d bytes", maxBody)}
	}
	return body.Bytes(), nil
}

// run shows the record and what is about to happen to it, asks, and makes the change. The change is refused if
// anything happens to the record meanwhile.
func (c *change) run(ctx context.Context, e environment, id string, response *idempotency.Response) error {
	if c.retention <= 0 {
		return usageError{"--retention must be longer than nothing"}
	}
	s, r, err := c.find(ctx, e, id)
	if err != nil {
		return err
	}
	w, err := idempotency.NewResolution(r, response, time.Now(), c.retention)
	if err != nil {
		return err
	}
	text := output{format: "text"}
	if err := text.write(e.err, viewOf(r, c.showBody)); err != nil {
		return err
	}
	fmt.Fprintln(e.err, announce(w))
	if !c.yes && !confirm("Do it?", e.in, e.err) {
		return errors.New("nothing was changed")
	}
	return c.make(ctx, e, s, w)
}

// announce says what a resolution will do.
func announce(w idempotency.Resolution) string {
	if w.Response == nil {
		return announceRerun(w.Seen)
	}
	text := fmt.Sprintf("Every retry until %s will get status %d with a body of %d bytes. That is right only if you know that\n"+
		"the operation came to this. Writes that its handler enlists are not made.", instant(w.ExpiresAt.UTC()), w.Response.Status, len(w.Response.Body))
	if n := len(w.Seen.Steps); n > 0 {
		text += fmt.Sprintf("\nIts %d recorded steps are forgotten; none is undone by this.", n)
	}
	return text
}

// announceRerun says what the next retry of a released record will do.
func announceRerun(seen *idempotency.Record) string {
	switch n := len(seen.Steps); {
	case seen.Compensating():
		return "The operation failed for good. The next retry will go on with undoing its steps."
	case n > 0:
		return fmt.Sprintf("The next retry will run the operation again, but for the %d steps that are recorded. That is right only if you know that\n"+
			"what the run before did after them took no effect, or is safe to repeat.", n)
	}
	return "The next retry will run the operation again. That is right only if you know that the run before took no effect, or that\n" +
		"its effects are safe to repeat."
}

// make makes the change and shows what became of the record.
func (c *change) make(ctx context.Context, e environment, s *dynamostore.Store, w idempotency.Resolution) error {
	ctx, cancel := context.WithTimeout(ctx, callBudget)
	defer cancel()
	err := s.Resolve(ctx, w)
	var refused *idempotency.RefusedError
	if errors.As(err, &refused) && w.Landed(refused.Record) {
		err = nil // the SDK sent it again: its first acknowledgement was lost
	}
	switch {
	case errors.As(err, &refused):
		return fmt.Errorf("refused: the record has changed since it was shown; look again: %s", stateNow(refused.Record))
	case err != nil:
		return fmt.Errorf("it is not known whether the record was changed; look again: %w", err)
	}
	r, err := s.Get(ctx, w.Seen.ID)
	if err != nil || r == nil {
		return errors.Join(errors.New("changed, but the record cannot be read now"), err)
	}
	return c.write(e.out, viewOf(r, false))
}

func stateNow(r *idempotency.Record) string {
	if r == nil {
		return "it is gone"
	}
	return "it is " + stateOf(r, time.Now())
}
