package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// maxBody is how many bytes of a body or an answer are held in memory.
const maxBody = 32 << 20

// noJournal is the value of --journal that means none.
const noJournal = "none"

// options are the flags of one run.
type options struct {
	flags *flag.FlagSet

	url      string // "" for resume
	method   string
	header   http.Header
	body     []byte // nil: none was given
	media    string // Content-Type of the body, unless a header says it
	key      string
	bare     bool
	include  bool
	silent   bool
	keepBody bool
	list     bool
	journal  string

	attempts                        int
	maxTime, attemptTime, retention time.Duration
}

// parse reads the command line. The options are there for help even with an error.
func parse(in io.Reader, args []string, resuming bool) (*options, error) {
	o := &options{header: http.Header{}, flags: flag.NewFlagSet("idemcurl", flag.ContinueOnError)}
	o.flags.SetOutput(io.Discard) // its usage text would hide the one line that matters
	o.define(in)
	if resuming {
		o.flags.BoolVar(&o.list, "list", false, "only list what is unfinished")
	} else {
		o.flags.StringVar(&o.method, "X", "", "`method` (default POST)")
		o.flags.BoolVar(&o.keepBody, "keep-body", false, "keep the body in the journal until the answer, so that resume needs no -d")
		o.flags.DurationVar(&o.retention, "retention", 0, "`time` for which the server remembers keys (default 24h)")
	}
	words, err := o.words(o.unglue(args))
	switch {
	case err != nil:
		return o, err
	case resuming && len(words) > 0:
		return o, usageError{fmt.Sprintf("%q is too much: resume takes flags only", words[0])}
	case resuming:
		return o, nil
	case len(words) != 1:
		return o, usageError{"give one URL; see --help"}
	}
	o.method, o.url = cmp.Or(o.method, http.MethodPost), words[0]
	if u, err := url.Parse(o.url); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return o, usageError{fmt.Sprintf("%q is no http or https URL", o.url)}
	}
	return o, nil
}

// define defines the flags of both commands.
func (o *options) define(in io.Reader) {
	f := o.flags
	f.Func("H", "`header`, 'Name: value'; may be given again", o.addHeader)
	f.Func("d", "`data` of the body, @FILE or @- for standard input; given again, it is joined by &", func(v string) error {
		return o.addBody(in, v, "application/x-www-form-urlencoded", "&")
	})
	f.Func("json", "`data` of the body as JSON, or @FILE or @-", func(v string) error { return o.addBody(in, v, "application/json", "") })
	f.Func("key", "`key` of the operation (default: a new UUID); for resume: finish this operation only", o.setKey)
	f.BoolVar(&o.bare, "bare", false, "send the key without quotes")
	f.BoolVar(&o.include, "i", false, "print status and headers of the answer, too")
	f.BoolVar(&o.silent, "s", false, "do not show attempts")
	f.StringVar(&o.journal, "journal", defaultJournal(), "`folder` of the journal, or "+noJournal)
	f.IntVar(&o.attempts, "max-attempts", 0, "attempts at most (default 12)")
	f.DurationVar(&o.maxTime, "max-time", 0, "`time` for all attempts together (default 2m)")
	f.DurationVar(&o.attemptTime, "attempt-time", 0, "`time` for one attempt (default 35s)")
}

// words reads flags and returns what is none. Both may be mixed, as in curl.
func (o *options) words(args []string) (words []string, err error) {
	for {
		switch err := o.flags.Parse(args); {
		case errors.Is(err, flag.ErrHelp):
			return nil, err
		case err != nil:
			return nil, usageError{err.Error() + "; see --help"}
		case o.flags.NArg() == 0:
			return words, nil
		}
		words, args = append(words, o.flags.Arg(0)), o.flags.Args()[1:]
	}
}

// unglue takes -XPOST apart, and -H and -d likewise, as curl does. The value of a flag is left as it is.
func (o *options) unglue(args []string) (apart []string) {
	value := false
	for _, a := range args {
		if !value && len(a) > 2 && a[0] == '-' && strings.Contains("XHd", a[1:2]) && a[2] != '=' {
			apart = append(apart, a[:2], a[2:])
			continue
		}
		apart = append(apart, a)
		value = !value && o.takesNext(a)
	}
	return apart
}

// takesNext reports whether the argument after this one is its value.
func (o *options) takesNext(arg string) bool {
	name, ok := strings.CutPrefix(arg, "-")
	f := o.flags.Lookup(strings.TrimPrefix(name, "-"))
	if !ok || f == nil {
		return false
	}
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return !ok || !b.IsBoolFlag()
}

func (o *options) addHeader(line string) error {
	name, value, ok := strings.Cut(line, ":")
	if !ok || name == "" || strings.ContainsAny(name, " \t") || strings.ContainsAny(line, "\r\n\x00") {
		return errors.New("a header is 'Name: value'")
	}
	if strings.EqualFold(name, "Idempotency-Key") {
		return errors.New("give the key by --key")
	}
	o.header.Add(name, strings.TrimSpace(value))
	return nil
}

// setKey takes no empty key: it comes from a variable that is not set, and would mean a new operation, or all.
func (o *options) setKey(key string) error {
	switch {
	case key == "":
		return errors.New("it is empty; leave --key out if that is meant")
	case o.key != "":
		return errors.New("give one --key")
	}
	o.key = key
	return nil
}

// addBody adds to the body.
func (o *options) addBody(in io.Reader, v, media, glue string) (err error) {
	text := []byte(v)
	switch file, ok := strings.CutPrefix(v, "@"); {
	case ok && file == "-":
		text, err = io.ReadAll(io.LimitReader(in, maxBody+1))
	case ok:
		text, err = os.ReadFile(file)
	}
	if err != nil {
		return err
	}
	if o.body != nil {
		o.body = append(o.body, glue...)
	}
	o.body = append(o.body, text...)
	if o.body == nil {
		o.body = []byte{} // one was given, an empty one
	}
	if len(o.body) > maxBody {
		return fmt.Errorf("the body has more than %d bytes", maxBody)
	}
	o.media = media
	return nil
}

// defaultJournal is where the journal is if nothing else is said: where nothing can be, there is none.
func defaultJournal() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return noJournal
	}
	return filepath.Join(dir, "idemcurl", "journal")
}

func (o *options) help(out io.Writer) {
	fmt.Fprint(out, "usage: idemcurl [flags] URL\n       idemcurl resume [flags]\n\n",
		"Sends a request under an idempotency key until it has a final answer, or finishes what an earlier run left.\n",
		"Exit status: 0 a final 2xx, 1 another final answer, 2 no final answer, 64 a usage error.\n\n")
	o.flags.SetOutput(out)
	o.flags.PrintDefaults()
}
