// Command idemctl is for operators of a table of idempotency records: it looks records up, settles operations that nobody
// finishes, and lists what is stuck.
//
//	idemctl id      --scope SCOPE --key KEY|-          the id of a key's record
//	idemctl inspect ID | --scope SCOPE --key KEY|-     what a record says
//	idemctl resolve ID … --status 201 --body FILE|-    record a response as the outcome of an orphan, or of a released
//	                                                   operation with steps
//	idemctl resolve ID … --rerun                       let an orphan's operation run again
//	idemctl release ID …                               alias of resolve --rerun
//	idemctl watch                                      what is stuck, by age: orphans, released operations with steps, and
//	                                                   records that cannot be read
//
// Commands name their flags with --help. A guard's secret is read from IDEMPOTENCY_SECRET and is never a flag. Keys are not
// printed; recorded headers and bodies are with --show-body, and the response that is about to be recorded in the question. Text
// that would not just print is quoted; --output json has it exactly.
//
// A change shows what it will do and asks, unless --yes is given; it is refused where the record has changed since it was
// shown. It is refused, too, while the run may be alive: its lease must be over by the database's clock and by this machine's,
// or, where the database does not tell its time, for five minutes by this machine's.
//
// Exit status: 0 done, 1 refused or failed, 2 a usage error.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"firstwriter/idempotency"
)

// environment is what a command has of the world beside its arguments.
type environment struct {
	in     *bufio.Reader
	out    io.Writer // results
	err    io.Writer // questions and complaints
	getenv func(string) string
	now    func() time.Time
}

// command is one of idemctl's.
type command struct {
	synopsis string
	help     string
	run      func(context.Context, environment, *flag.FlagSet, []string) error
}

var commands = map[string]command{
	"id":      {"id --scope SCOPE --key KEY|-", "Prints the id of a key's record, as the guard computes it. It makes no call.", runID},
	"inspect": {"inspect ID | --scope SCOPE --key KEY|-", "Shows a record by a consistent read: its state, its times, the names of its steps, and the recorded response without its body.", runInspect},
	"resolve": {"resolve ID | --scope SCOPE --key KEY|-   --status N [--header 'Name: value']… [--body FILE|-] | --rerun",
		"Settles an orphan: records a response, which every retry then gets, or lets the next retry run the operation again.\n" +
			"A released operation with steps that nobody finishes can be given a response too.\n" + fenced, runResolve},
	"release": {"release ID | --scope SCOPE --key KEY|-", "Alias of resolve --rerun: lets an orphan's operation run again.\n" + fenced, runRelease},
	"watch": {"watch [--older-than 5m] [--every 1m]",
		"Lists what is stuck, the oldest claim first: processing records whose lease is over; released operations with steps, which\n" +
			"were answered 429 or 503, say, and wait for a retry to go on after them; and records that cannot be read.\n" +
			"It reads the whole table, and says what that cost. It does not look for body items that are missing.", runWatch},
}

// fenced says when a change is made.
var fenced = fmt.Sprintf("The run must be over: its lease, by the database's clock and by this machine's, or for %v by this machine's alone\n"+
	"where the database does not tell its time. A run that gave up by itself is over at once.", idempotency.ClockMargin)

// usageError is a mistake in the command line.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	e := environment{in: bufio.NewReader(os.Stdin), out: os.Stdout, err: os.Stderr, getenv: os.Getenv, now: time.Now}
	code := run(ctx, e, os.Args[1:])
	stop()
	os.Exit(code)
}

// run runs one command and returns the exit status.
func run(ctx context.Context, e environment, args []string) int {
	err := dispatch(ctx, e, args)
	var usage usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		fmt.Fprintf(e.err, "idemctl: %s\n", printableLines(usage.text))
		return 2
	}
	fmt.Fprintf(e.err, "idemctl: %s\n", explain(err))
	return 1
}

func dispatch(ctx context.Context, e environment, args []string) error {
	const names = "id, inspect, resolve, release or watch"
	if len(args) == 0 {
		return usageError{"name a command: " + names + "; see --help"}
	}
	if strings.TrimLeft(args[0], "-") == "help" || args[0] == "-h" {
		return help(e.out)
	}
	c, ok := commands[args[0]]
	if !ok {
		return usageError{fmt.Sprintf("%q is no command; use %s", args[0], names)}
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.SetOutput(io.Discard) // its usage text would hide the one line that matters
	err := c.run(ctx, e, flags, args[1:])
	if !errors.Is(err, flag.ErrHelp) {
		return err
	}
	flags.SetOutput(e.out)
	_, err = fmt.Fprintf(e.out, "usage: idemctl %s\n\n%s\n\n", c.synopsis, c.help)
	flags.PrintDefaults()
	return err
}

func help(out io.Writer) error {
	fmt.Fprintln(out, "idemctl looks up idempotency records, settles operations that nobody finishes and lists what is stuck. Commands:")
	for _, name := range []string{"id", "inspect", "resolve", "release", "watch"} {
		fmt.Fprintf(out, "\n  idemctl %s\n      %s\n", commands[name].synopsis, strings.ReplaceAll(commands[name].help, "\n", "\n      "))
	}
	_, err := fmt.Fprintln(out, "\nExit status: 0 done, 1 refused or failed, 2 a usage error. idemctl COMMAND --help lists the flags.")
	return err
}
