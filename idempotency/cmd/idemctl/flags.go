package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strings"

	"firstwriter/idempotency"
)

// idLength is the length of every record id.
const idLength = 43

// names are the flags that say which record is meant.
type names struct {
	scope, key, namespace string
	verbatim              bool
}

func (n *names) define(flags *flag.FlagSet) {
	flags.StringVar(&n.scope, "scope", "", "whose key it is, as the guard's Scope says: the `tenant`")
	flags.StringVar(&n.key, "key", "", "the idempotency `key`, as in the header; - reads it from standard input, where ps does not show it")
	flags.StringVar(&n.namespace, "namespace", "", "the guard's `Namespace`; its Secret is read from IDEMPOTENCY_SECRET, as it stands")
	flags.BoolVar(&n.verbatim, "verbatim", false, "take the key as it stands, as idempotency.Do does; else it is read as the header is")
}

// id is the id of the record that is meant.
func (n *names) id(e environment) (string, error) {
	if n.scope == "" || n.key == "" {
		return "", usageError{"name the record by --scope and --key (or, but for the command id, by its id)"}
	}
	key := n.key
	if key == "-" {
		line, err := e.in.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("standard input: %w", err)
		}
		key = strings.TrimRight(line, "\r\n")
	}
	if !n.verbatim {
		var err error
		if key, err = idempotency.ParseKey(http.Header{idempotency.KeyHeader: {key}}); err != nil {
			return "", usageError{"--key: " + err.Error()}
		}
	}
	if key == "" {
		return "", usageError{"--key: the key is empty"}
	}
	secret, err := secretOf(e)
	return idempotency.RecordID(n.namespace, secret, n.scope, key), err
}

// secretOf reads the guard's secret, and refuses what no guard takes: the id would be nobody's.
func secretOf(e environment) ([]byte, error) {
	secret := []byte(e.getenv("IDEMPOTENCY_SECRET"))
	_, err := idempotency.New(idempotency.Config{Store: &idempotency.Memory{}, Scope: idempotency.SharedScope, Secret: secret})
	if err != nil {
		return nil, usageError{"IDEMPOTENCY_SECRET: no guard takes it: " + err.Error()}
	}
	return secret, nil
}

// output is how results are written.
type output struct{ format string }

func (o *output) define(flags *flag.FlagSet) {
	flags.StringVar(&o.format, "output", "text", "`text` or json")
}

func (o *output) check() error {
	if o.format != "text" && o.format != "json" {
		return usageError{fmt.Sprintf("--output: %q is neither text nor json", o.format)}
	}
	return nil
}

// parse reads a command's flags. One argument may stand before, between or after them: a record's id.
func parse(flags *flag.FlagSet, args []string) (id string, err error) {
	for {
		switch err := flags.Parse(args); {
		case errors.Is(err, flag.ErrHelp):
			return "", err
		case err != nil:
			return "", usageError{err.Error() + "; see idemctl " + flags.Name() + " --help"}
		case flags.NArg() == 0:
			return id, nil
		case id != "":
			return "", usageError{fmt.Sprintf("%q is too much: a command takes one id at most", flags.Arg(0))}
		}
		id, args = flags.Arg(0), flags.Args()[1:]
	}
}

// selected is the id of the record that a command is about: as given, or by scope and key.
func (n *names) selected(e environment, id string) (string, error) {
	switch {
	case id == "":
		return n.id(e)
	case n.scope != "" || n.key != "":
		return "", usageError{"name the record by its id, or by --scope and --key, not by both"}
	case len(id) != idLength || strings.ContainsFunc(id, notBase64):
		return "", usageError{"a record's id has 43 characters of A-Z, a-z, 0-9, - and _; for a key, use --scope and --key"}
	}
	return id, nil
}

func notBase64(r rune) bool {
	return !(r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_')
}

// confirm asks a question and reports whether the answer is yes. The end of the input is a no.
func confirm(question string, in *bufio.Reader, out io.Writer) bool {
	fmt.Fprintf(out, "%s [y/N] ", question)
	line, err := in.ReadString('\n')
	if err != nil {
		fmt.Fprintln(out)
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes"
}
