package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"

	"firstwriter/idempotency/httpclient"
)

// send sends one request.
func (o *options) send(ctx context.Context, e environment) (code int, err error) {
	t, err := o.transport(e)
	if err != nil {
		return exitUnknown, err
	}
	defer t.CloseIdleConnections()
	if o.key != "" {
		ctx = httpclient.WithKey(ctx, o.key)
	}
	req, err := http.NewRequestWithContext(ctx, o.method, o.url, bytes.NewReader(o.body))
	if err != nil {
		return exitUsage, usageError{err.Error()}
	}
	if o.media != "" {
		req.Header.Set("Content-Type", o.media)
	}
	return o.do(e, t, req)
}

// do sends an operation and prints its answer.
func (o *options) do(e environment, t *httpclient.Transport, req *http.Request) (code int, err error) {
	maps.Copy(req.Header, o.header) // also over what a resumed operation brings
	if host := o.header.Get("Host"); host != "" {
		req.Host = host
	}
	res, out, err := t.Do(req)
	if err != nil {
		o.advise(e.err, out)
		return exitUnknown, err
	}
	defer res.Body.Close()
	if out.Unrecorded != nil {
		fmt.Fprintf(e.err, "idemcurl: %v\n", out.Unrecorded)
	}
	code = exitRefused
	switch {
	case !out.Final:
		o.advise(e.err, out)
		code = exitUnknown
	case res.StatusCode >= 200 && res.StatusCode < 300:
		code = exitDone
	}
	return code, o.print(e.out, res)
}

// print writes the answer.
func (o *options) print(out io.Writer, res *http.Response) error {
	if o.include {
		fmt.Fprintf(out, "%s %s\n", res.Proto, res.Status)
		if err := res.Header.Write(out); err != nil {
			return err
		}
		fmt.Fprintln(out)
	}
	if _, err := io.Copy(out, res.Body); err != nil {
		return fmt.Errorf("the operation was answered %s, but the answer is not complete here: %w", res.Status, err)
	}
	return nil
}

// advise says how to go on with an operation that has no final answer.
func (o *options) advise(w io.Writer, out httpclient.Outcome) {
	switch {
	case out.Key == "":
	case o.journal == noJournal:
		fmt.Fprintf(w, "no final answer; send the same request again with --key %s\n", shellWord(out.Key))
	default:
		fmt.Fprintf(w, "no final answer; go on with: idemcurl resume --key %s --journal %s\n", shellWord(out.Key), shellWord(o.journal))
	}
}

// shellWord quotes a text for a POSIX shell.
func shellWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// showAttempt prints a line for an attempt.
func showAttempt(w io.Writer, a httpclient.Attempt) {
	line := fmt.Sprintf("attempt %d: ", a.Number)
	switch {
	case a.Err != nil:
		line += fmt.Sprintf("no answer: %v", a.Err)
	case a.Problem.Code != "":
		line += fmt.Sprintf("%d %q", a.Status, a.Problem.Code)
	default:
		line += fmt.Sprint(a.Status)
	}
	if a.Replayed {
		line += ", replayed"
	}
	if a.Resends > 0 {
		line += fmt.Sprintf(", sent %d times more on dead connections", a.Resends)
	}
	if !a.Last {
		line += fmt.Sprintf("; again in %v", a.Pause.Round(time.Millisecond))
	}
	fmt.Fprintln(w, line)
}

// resume finishes what is unfinished in the journal.
func (o *options) resume(ctx context.Context, e environment) (code int, err error) {
	if o.journal == noJournal {
		return exitUsage, usageError{"resume needs a journal; see --journal"}
	}
	t, err := o.transport(e)
	if err != nil {
		return exitUnknown, err
	}
	defer t.CloseIdleConnections()
	live, forgotten, err := t.Unfinished()
	if err != nil {
		fmt.Fprintf(e.err, "idemcurl: %v\n", err)
		code = exitUnknown
	}
	for _, f := range forgotten {
		fmt.Fprintf(e.err, "idemcurl: dropped %s: %v\n", describe(f), httpclient.ErrKeyForgotten)
		code = exitUnknown
	}
	for _, entry := range live {
		switch {
		case o.key != "" && o.key != entry.Key:
		case o.list:
			fmt.Fprintln(e.out, describe(entry))
		default:
			code = max(code, o.finish(ctx, e, t, entry))
		}
	}
	return code, nil
}

// finish finishes one operation and returns the exit status.
func (o *options) finish(ctx context.Context, e environment, t *httpclient.Transport, entry httpclient.Entry) int {
	fmt.Fprintf(e.err, "resuming %s\n", describe(entry))
	req, err := entry.Request(ctx, o.body)
	code := exitUnknown
	if err == nil {
		code, err = o.do(e, t, req)
	}
	if err != nil {
		if errors.Is(err, httpclient.ErrNeedsBody) {
			err = fmt.Errorf("%w with -d", err)
		}
		fmt.Fprintf(e.err, "idemcurl: %v\n", err)
	}
	return code
}

// describe names an operation for people, by the URL to which it is sent when it is resumed.
func describe(e httpclient.Entry) string {
	return fmt.Sprintf("%s %s, key %s, begun %s", e.Method, cmp.Or(e.Hop, e.URL), shellWord(e.Key), e.At.Local().Format(time.DateTime))
}
