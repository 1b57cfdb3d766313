package idempotency

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Selection says which part of a request's body counts in its fingerprint. The zero value: all of it. Method, path,
// query and media type always count.
//
// Include and Exclude hold JSON Pointers (RFC 6901), such as "/order/requestedAt". Behind a pointer to an array, "*"
// stands for every element: "/items/*/note". Pointers concern JSON bodies only; a body that is compared byte for byte
// counts whole. So does a value that is no object or array where a pointer leads through it, and a body in which nothing
// is that Include names. Of an array that a pointer leads into, the number of elements counts too, even if all of them
// are left out.
//
// Include "/amount" names "Amount", "AMOUNT" and "a_mount" too: a decoder that is as lenient as encoding/json reads them,
// and what the handler may see must count. It counts as it is spelled: "amount" and "Amount" differ. Exclude "/note" names
// "note" alone. Where it is not certain that two requests are the same, they differ.
type Selection struct {
	// Version is stored with every fingerprint. Give the selection a new one whenever another field changes, and keep
	// the old selection among the former ones as long as its records live: a stored fingerprint is compared by the
	// selection that it was made with. A record whose selection is not known is answered with 503. Version 0 is the
	// whole body, and always known; other selections have 1 to 255.
	Version uint8
	// Include, if not empty, names what counts, in any case. Nothing else does.
	Include []string
	// Exclude names, exactly, what does not count: a timestamp or a trace id that a client makes anew for each retry. Where
	// Include is given too, it names parts of what is included.
	Exclude []string
	// Bytes compares the body byte for byte, whatever its media type. It goes with neither of the lists.
	Bytes bool
}

// selection is a Selection made ready for use.
type selection struct {
	version uint8
	bytes   bool
	root    selector
	form    string // what it selects, as a part of the fingerprint
}

// selector says what counts of a value. The zero value: all of it.
type selector struct {
	include tree // what counts, names folded; nil: everything
	exclude tree // what of it does not; nil: nothing
}

// tree holds JSON Pointers, by the name, the index or the "*" that each begins with. What a pointer leads to is a nil tree.
type tree map[string]tree

// all reports whether all of a value counts.
func (s selector) all() bool { return s.include == nil && s.exclude == nil }

// member says what counts of an object's member, if anything does.
func (s selector) member(name []byte) (next selector, counts bool) {
	var included tree
	if s.include != nil {
		var buf [64]byte
		if included, counts = s.include[string(appendFolded(buf[:0], name))]; !counts {
			return selector{}, false
		}
	}
	excluded, named := s.exclude[string(name)]
	return selector{included, excluded}.unless(named)
}

// element says what counts of an array's n-th element, if anything does.
func (s selector) element(n int) (next selector, counts bool) {
	var included tree
	if s.include != nil {
		if included, counts = s.include.element(n); !counts {
			return selector{}, false
		}
	}
	excluded, named := s.exclude.element(n)
	return selector{included, excluded}.unless(named)
}

// unless is s, unless its value was named by a pointer of those that exclude, and the pointer ends there.
func (s selector) unless(named bool) (selector, bool) {
	if named && s.exclude == nil {
		return selector{}, false
	}
	return s, true
}

// element is where a tree leads from an array to its n-th element.
func (t tree) element(n int) (next tree, named bool) {
	if next, named = t["*"]; named {
		return next, true
	}
	var buf [20]byte
	next, named = t[string(strconv.AppendInt(buf[:0], int64(n), 10))]
	return next, named
}

// learn makes a selection known.
func (f *fingerprinter) learn(s Selection) error {
	made, err := s.compile()
	if err != nil {
		return fmt.Errorf("selection of version %d: %w", s.Version, err)
	}
	if old, ok := f.known[s.Version]; ok && old.form != made.form {
		return fmt.Errorf("two selections have version %d: give each its own", s.Version)
	}
	f.known[s.Version] = made
	return nil
}

// compile checks a selection and makes it ready for use.
func (s Selection) compile() (*selection, error) {
	include, err := pointers(s.Include, folded)
	if err != nil {
		return nil, fmt.Errorf("in Include: %w", err)
	}
	exclude, err := pointers(s.Exclude, asWritten)
	if err != nil {
		return nil, fmt.Errorf("in Exclude: %w", err)
	}
	whole := len(include)+len(exclude) == 0
	switch {
	case s.Bytes && !whole:
		return nil, errors.New("there are no members in bytes: Bytes goes with neither Include nor Exclude")
	case s.Version == 0 && (s.Bytes || !whole):
		return nil, errors.New("only the whole body has version 0: give this selection a Version from 1 to 255")
	}
	made := &selection{version: s.Version, bytes: s.Bytes, form: formOf(s.Bytes, include, exclude)}
	if whole {
		return made, nil
	}
	return made, made.build(include, exclude)
}

// formOf spells a selection in a way that is the same for equal ones and for no others.
func formOf(bytes bool, include, exclude []pointer) string {
	if bytes {
		return "bytes"
	}
	var form []byte
	for _, p := range include {
		form = appendPart(append(form, '+'), p.text)
	}
	for _, p := range exclude {
		form = appendPart(append(form, '-'), p.text)
	}
	return string(form)
}

// build makes the trees of pointers.
func (s *selection) build(include, exclude []pointer) (err error) {
	for _, p := range exclude {
		within := func(i pointer) bool { return i.contains(p.as(folded)) && len(i.tokens) < len(p.tokens) }
		if len(include) > 0 && !slices.ContainsFunc(include, within) {
			return fmt.Errorf("in Exclude: %q is not within anything that Include names", p.text)
		}
	}
	if s.root.include, err = grow(include); err != nil {
		return fmt.Errorf("in Include: %w", err)
	}
	if s.root.exclude, err = grow(exclude); err != nil {
		return fmt.Errorf("in Exclude: %w", err)
	}
	return nil
}

// grow makes a tree of pointers of which none leads into another's value; nil of none.
func grow(pointers []pointer) (tree, error) {
	if len(pointers) == 0 {
		return nil, nil
	}
	root := tree{}
	for _, p := range pointers {
		t, last := root, len(p.tokens)-1
		for _, token := range p.tokens[:last] {
			if t[token] == nil {
				t[token] = tree{}
			}
			t = t[token]
		}
		t[p.tokens[last]] = nil
	}
	return root, root.check()
}

// check refuses trees that lead to an element of an array in two ways.
func (t tree) check() error {
	_, every := t["*"]
	for name, next := range t {
		if every && isIndex(name) {
			return fmt.Errorf("\"*\" and the index %s name the same element: use one of them", name)
		}
		if err := next.check(); err != nil {
			return err
		}
	}
	return nil
}

// isIndex reports whether a token names an array's element (RFC 6901, section 4).
func isIndex(token string) bool {
	_, err := strconv.ParseUint(token, 10, 63)
	return err == nil && (token == "0" || token[0] != '0')
}

// pointer is a JSON Pointer.
type pointer struct {
	text   string
	tokens []string // as they are compared
}

// asWritten and folded are how tokens are compared with names: exactly, and as [appendFolded] has it.
func asWritten(token string) string { return token }
func folded(token string) string    { return string(appendFolded(nil, []byte(token))) }

// as returns the pointer with its tokens compared in another way.
func (p pointer) as(compared func(string) string) pointer {
	tokens := make([]string, len(p.tokens))
	for i, token := range p.tokens {
		tokens[i] = compared(token)
	}
	return pointer{p.text, tokens}
}

// contains reports whether q leads to p's value or into it.
func (p pointer) contains(q pointer) bool {
	return len(p.tokens) <= len(q.tokens) && slices.Equal(p.tokens, q.tokens[:len(p.tokens)])
}

// pointers parses JSON Pointers and sorts them. None may lead into another's value.
func pointers(texts []string, compared func(string) string) ([]pointer, error) {
	var list []pointer
	for _, text := range slices.Sorted(slices.Values(texts)) {
		p, err := parsePointer(text)
		if err != nil {
			return nil, err
		}
		p = p.as(compared)
		for _, other := range list {
			switch {
			case other.contains(p):
				return nil, fmt.Errorf("%q is within %q: leave one of them out", p.text, other.text)
			case p.contains(other):
				return nil, fmt.Errorf("%q is within %q: leave one of them out", other.text, p.text)
			}
		}
		list = append(list, p)
	}
	return list, nil
}

// parsePointer parses a JSON Pointer (RFC 6901, section 3).
func parsePointer(text string) (pointer, error) {
	if text == "" {
		return pointer{}, errors.New(`"" is the whole body: leave the list empty for it`)
	}
	if text[0] != '/' {
		return pointer{}, fmt.Errorf("%q does not begin with a slash, as a JSON Pointer (RFC 6901) does", text)
	}
	tokens := strings.Split(text[1:], "/")
	for i, token := range tokens {
		plain := strings.NewReplacer("~0", "", "~1", "").Replace(token)
		if strings.Contains(plain, "~") {
			return pointer{}, fmt.Errorf("%q has a ~ that is neither ~0 nor ~1", text)
		}
		tokens[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
	}
	return pointer{text, tokens}, nil
}
