// Command sandbox serves the project's API on this machine, with nothing but Go and make installed:
//
//	go run ./integration/cmd/sandbox [-addr 127.0.0.1:3000] [-timeout 6s] [-template template.yaml] [-data DIR]
//	                                 [-param Name=Value]... [-allow-aws]
//
// It builds the functions of the template, starts a database and a fake payment provider, and serves the HTTP API. When
// it is up it prints the URL and curl lines that work as pasted. Functions log to standard error. Ctrl-C stops
// everything.
//
// With DYNAMODB_ENDPOINT in the environment, that server is used instead of the built-in database.
//
// Exit status: 0 when it was stopped by a signal, 1 with one line that says why when it could not start.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"firstwriter/integration/sandbox"
)

func main() {
	if err := run(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run serves until a signal comes. A second signal ends the process at once.
func run(args []string) error {
	cfg, err := parseFlags(args)
	if err != nil {
		return err
	}
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup stays in force
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watchGoRun(ctx, cancel)
	s, err := sandbox.Start(ctx, cfg)
	if ctx.Err() != nil {
		return closeIfOpen(s)
	}
	if err != nil {
		return err
	}
	if err := greet(os.Stdout, s); err != nil {
		return errors.Join(err, s.Close())
	}
	<-ctx.Done()
	stop()
	return s.Close()
}

func closeIfOpen(s *sandbox.Sandbox) error {
	if s == nil {
		return nil
	}
	return s.Close()
}

func parseFlags(args []string) (sandbox.Config, error) {
	cfg := sandbox.Config{Parameters: map[string]string{}, DynamoDBEndpoint: os.Getenv("DYNAMODB_ENDPOINT"), Region: os.Getenv("AWS_REGION")}
	flags := flag.NewFlagSet("sandbox", flag.ContinueOnError)
	flags.StringVar(&cfg.Addr, "addr", "127.0.0.1:3000", "loopback `address` to serve the API on")
	flags.StringVar(&cfg.Template, "template", "template.yaml", "SAM template `file`")
	flags.Func("timeout", "every function's timeout instead of the template's, a `duration` from 1s to 15m such as 6s;\n"+
		"above 30s the gateway answers 503 first", func(text string) (err error) {
		cfg.Timeout, err = parseTimeout(text)
		return err
	})
	flags.StringVar(&cfg.Data, "data", "", "`folder` that keeps database, charges, events and signing key (default: forget everything)")
	flags.BoolVar(&cfg.AllowAWS, "allow-aws", false, "let DYNAMODB_ENDPOINT be AWS itself")
	flags.Func("param", "template parameter as `Name=Value`; may be given several times", func(text string) error {
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			return errors.New("Name=Value is expected")
		}
		cfg.Parameters[name] = value
		return nil
	})
	flags.SetOutput(io.Discard) // its usage text would hide the one line that matters
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "sandbox serves the project's API on this machine; DYNAMODB_ENDPOINT names another database server to use. Flags:")
		flags.SetOutput(os.Stderr)
		flags.PrintDefaults()
		return cfg, err
	} else if err != nil {
		return cfg, fmt.Errorf("sandbox: %w; see -help", err)
	}
	if flags.NArg() > 0 {
		return cfg, fmt.Errorf("sandbox: %q is not a flag; see -help", flags.Arg(0))
	}
	return cfg, checkEmpty(flags)
}

// checkEmpty refuses flags that were given without a value, as by -data "$UNSET": for sandbox.Config an empty string
// is a default, and for an address another one than the flag's.
func checkEmpty(flags *flag.FlagSet) (err error) {
	flags.Visit(func(f *flag.Flag) {
		if slices.Contains([]string{"addr", "template", "data"}, f.Name) && f.Value.String() == "" {
			err = fmt.Errorf("sandbox: -%s is empty: leave it out for its default", f.Name)
		}
	})
	return err
}

// parseTimeout leaves the limits to sandbox.Config, for which zero is no timeout but the template's.
func parseTimeout(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, errors.New("a duration such as 6s is expected")
	}
	if d == 0 {
		return 0, errors.New("1s is the least; leave it out for the template's")
	}
	return d, nil
}
