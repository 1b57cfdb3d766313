// Command idemcurl sends a request under an idempotency key until it has a final answer, much as curl sends one once.
//
//	idemcurl [flags] URL         sends a request; -X -H -d --json as in curl
//	idemcurl resume [flags]      finishes the operations that an earlier run left without a final answer
//
// The answer's body goes to standard output; attempts are shown on standard error as they happen. Before anything is sent,
// key, method, URL and the body's hash are in a journal, so that resume can go on after a crash with the same key. The
// body itself is kept only with --keep-body, and headers never are, but those that describe the body: give credentials
// (and the body, if it is not kept) again to resume. idemcurl --help and idemcurl resume --help list the flags.
//
// Exit status: 0 a final 2xx, 1 another final answer, 2 no final answer: the outcome is unknown, or nothing was done yet;
// 64 a usage error. For resume it is the greatest of its operations'.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"firstwriter/idempotency/httpclient"
)

// Exit statuses.
const (
	exitDone    = 0
	exitRefused = 1
	exitUnknown = 2
	exitUsage   = 64 // EX_USAGE of sysexits.h
)

// environment is what the command has of the world beside its arguments.
type environment struct {
	in  io.Reader
	out io.Writer // answers
	err io.Writer // attempts and complaints
}

// usageError is a mistake in the command line.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, environment{os.Stdin, os.Stdout, os.Stderr}, os.Args[1:])
	stop()
	os.Exit(code)
}

// run sends or resumes, and returns the exit status.
func run(ctx context.Context, e environment, args []string) int {
	resuming := len(args) > 0 && args[0] == "resume"
	if resuming {
		args = args[1:]
	}
	o, err := parse(e.in, args, resuming)
	code := exitUsage
	switch {
	case errors.Is(err, flag.ErrHelp):
		o.help(e.out)
		return exitDone
	case err != nil:
	case resuming:
		code, err = o.resume(ctx, e)
	default:
		code, err = o.send(ctx, e)
	}
	if err != nil {
		fmt.Fprintf(e.err, "idemcurl: %v\n", err)
		var usage usageError
		if errors.As(err, &usage) {
			return exitUsage
		}
	}
	return code
}

// transport makes what sends operations, with the journal that the flags name.
func (o *options) transport(e environment) (*httpclient.Transport, error) {
	config := httpclient.Config{Methods: []string{o.method}, BareKeys: o.bare, MaxAttempts: o.attempts, MaxElapsed: o.maxTime, AttemptTimeout: o.attemptTime,
		Retention: o.retention, MaxBody: maxBody, MaxAnswer: maxBody, OnAttempt: func(a httpclient.Attempt) { showAttempt(e.err, a) }}
	if o.silent {
		config.OnAttempt = nil
	}
	if o.journal != noJournal {
		dir, err := httpclient.OpenDir(o.journal)
		if err != nil {
			return nil, err
		}
		config.Journal, config.KeepBodies = dir, o.keepBody
	}
	t, err := httpclient.New(config)
	if err != nil {
		return nil, usageError{err.Error()}
	}
	return t, nil
}
