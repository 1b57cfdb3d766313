// Command idemctl is for operators of a table of idempotency records: it looks records up, settles orphans, and lists
// what is stuck.
//
//	idemctl id      --scope SCOPE --key KEY|-          the id of a key's record
//	idemctl inspect ID | --scope SCOPE --key KEY|-     what a record says
//	idemctl resolve ID … --status 201 --body FILE|-    record a response as an orphan's outcome
//	idemctl resolve ID … --rerun                       let an orphan's operation run again
//	idemctl release ID …                               the same as resolve --rerun
//	idemctl watch                                      processing records whose lease is over, by age
//
// Commands name their flags with --help. A guard's secret is read from IDEMPOTENCY_SECRET and is never a flag. Keys and
// bodies are not printed, but for a body with --show-body. A change shows what it will do and asks, unless --yes is given;
// it is refused where the record has changed since it was shown.
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

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// environment is what a command has of the world beside its arguments.
type environment struct {
	in     *bufio.Reader
	out    io.Writer // results
	err    io.Writer // questions and complaints
	getenv func(string) string
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
		"Settles an orphan: records a response, which every retry then gets, or lets the next retry run the operation again.", runResolve},
	"release": {"release ID | --scope SCOPE --key KEY|-", "Lets an orphan's operation run again: the same as resolve --rerun.", runRelease},
	"watch": {"watch [--older-than 5m] [--every 1m]",
		"Lists processing records whose lease is over, the oldest first. It reads the whole table, and says what that cost.", runWatch},
}

// usageError is a mistake in the command line.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	e := environment{in: bufio.NewReader(os.Stdin), out: os.Stdout, err: os.Stderr, getenv: os.Getenv}
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
		fmt.Fprintf(e.err, "idemctl: %s\n", usage)
		return 2
	}
	var missing *types.ResourceNotFoundException
	if errors.As(err, &missing) {
		err = errors.New("there is no such table in this account and Region; see --table, --region and --endpoint")
	}
	fmt.Fprintf(e.err, "idemctl: %v\n", err)
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
	fmt.Fprintln(out, "idemctl looks up idempotency records, settles orphans and lists what is stuck. Commands:")
	for _, name := range []string{"id", "inspect", "resolve", "release", "watch"} {
		fmt.Fprintf(out, "\n  idemctl %s\n      %s\n", commands[name].synopsis, commands[name].help)
	}
	_, err := fmt.Fprintln(out, "\nExit status: 0 done, 1 refused or failed, 2 a usage error. idemctl COMMAND --help lists the flags.")
	return err
}
