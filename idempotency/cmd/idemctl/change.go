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

// change is a command that settles a record.
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
	flags.DurationVar(&c.retention, "retention", idempotency.DefaultRetention, "how long the record answers retries from now on: give\n"+
		"the guard's Retention where that is not its default, which is this one's too;\nafter it the key is new, and a retry runs the operation; an orphan with steps that is let\ngo stays for as long as it would have stayed, if that is longer: for a year if it was for good")
}

func (c *change) defineResponse(flags *flag.FlagSet) {
	c.header = http.Header{}
	flags.IntVar(&c.status, "status", 0, "status of the response that retries get")
	flags.StringVar(&c.body, "body", "", "`file` with its body; - is standard input, and then --yes is needed")
	flags.BoolVar(&c.rerun, "rerun", false, "record no response: let the next retry run the operation; the same as the command release")
	flags.Func("header", "`'Name: value'` of the response; may be given several times; one that is never recorded\n"+
		"(Set-Cookie, Content-Length, Date, …) is refused", func(text string) error {
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			return errors.New("a header is given as Name: value")
		}
		c.header.Add(name, strings.Trim(value, " \t"))
		return nil
	})
}

// runRelease is runResolve with --rerun: it lets an orphan's operation run again.
func runRelease(ctx context.Context, e environment, flags *flag.FlagSet, args []string) error {
	c := change{rerun: true}
	c.define(flags)
	id, err := parse(flags, args)
	if err != nil {
		return err
	}
	return c.run(ctx, e, id, nil)
}

// runResolve records a response as the outcome of an operation that nobody finishes, or lets it run again.
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
	if err != nil {
		return nil, err
	}
	r := &idempotency.Response{Status: c.status, Header: c.header, Body: body}
	if err := idempotency.CheckRecordable(r); err != nil {
		return nil, usageError{strings.ReplaceAll(err.Error(), "\n", "; ")}
	}
	return r, nil
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
	s, seen, err := c.find(ctx, e, id)
	if err != nil {
		return err
	}
	tellClocks(e.err, seen.clocks)
	w, err := idempotency.NewResolution(seen.record, response, seen.clocks, c.retention)
	if _, remedy := problem(seen); err != nil && remedy != "" {
		return fmt.Errorf("%w\n  what to do: %s", err, remedy)
	}
	if err != nil {
		return err
	}
	text := output{format: "text"}
	if err := text.write(e.err, viewOf(seen, c.showBody)); err != nil {
		return err
	}
	fmt.Fprintln(e.err, c.announce(w))
	if !c.yes && !confirm("Do it?", e.in, e.err) {
		return errors.New("nothing was changed")
	}
	return c.make(ctx, e, s, w)
}

// make makes the change and shows what became of the record.
func (c *change) make(ctx context.Context, e environment, s *dynamostore.Store, w idempotency.Resolution) error {
	err := c.resolve(ctx, s, w)
	var refused *idempotency.RefusedError
	if errors.As(err, &refused) && w.Landed(refused.Record) {
		err = nil // the SDK sent it again: its first acknowledgement was lost
	}
	switch {
	case errors.As(err, &refused):
		return fmt.Errorf("refused: the record has changed since it was shown; look again: %s", stateNow(refused.Record, e.now()))
	case err != nil:
		return fmt.Errorf("it is not known whether the record was changed; look again: %w", err)
	}
	c.showBody = false
	seen, err := c.look(ctx, e, s, w.Seen.ID)
	if err != nil {
		return fmt.Errorf("changed, but the record cannot be read now: %w", err)
	}
	return c.write(e.out, viewOf(seen, false))
}

// resolve sends a resolution, its body items first.
func (c *change) resolve(ctx context.Context, s *dynamostore.Store, w idempotency.Resolution) error {
	ctx, cancel := context.WithTimeout(ctx, callBudget)
	defer cancel()
	return s.Resolve(ctx, w)
}

func stateNow(r *idempotency.Record, now time.Time) string {
	if r == nil {
		return "it is gone"
	}
	return "it is " + stateOf(r, idempotency.Clocks{Local: now})
}
