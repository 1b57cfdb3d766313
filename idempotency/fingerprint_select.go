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
// counts whole. So does a value that is no object or array where a pointer leads through it. Of an array that a pointer
// leads into, the number of elements counts too, even if all of them are left out.
type Selection struct {
	// Version is stored with every fingerprint. Give the selection a new one whenever another field changes, and keep
	// the old selection among the former ones as long as its records live: a stored fingerprint is compared by the
	// selection that it was made with. A record whose selection is not known is answered with 503. Version 0 is the
	// whole body, and always known; other selections have 1 to 255.
	Version uint8
	// Include, if not empty, names what counts. Nothing else does.
	Include []string
	// Exclude names what does not count: a timestamp or a trace id that a client makes anew for each retry. Where
	// Include is given too, it names parts of what is included.
	Exclude []string
	// Bytes compares the body byte for byte, whatever its media type. It goes with neither of the lists.
	Bytes bool
}

// selection is a Selection made ready for use.
type selection struct {
	version uint8
	bytes   bool
	root    *selector
	form    string // what it selects, as a part of the fingerprint
}

// selector says what counts of a value: nil is all of it.
type selector struct {
	named  map[string]*selector // what pointers lead to, by name, index or "*"
	others *selector            // what they do not lead to: nil or leftOut
}

// leftOut says that a value does not count.
var leftOut = new(selector)

// member says what counts of an object's member.
func (s *selector) member(name []byte) *selector {
	if next, ok := s.named[string(name)]; ok {
		return next
	}
	return s.others
}

// element says what counts of an array's n-th element.
func (s *selector) element(n int) *selector {
	if s == nil {
		return nil
	}
	if next, ok := s.named["*"]; ok {
		return next
	}
	var buf [20]byte
	return s.member(strconv.AppendInt(buf[:0], int64(n), 10))
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
	include, err := pointers(s.Include)
	if err != nil {
		return nil, fmt.Errorf("in Include: %w", err)
	}
	exclude, err := pointers(s.Exclude)
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

// build makes the tree of selectors.
func (s *selection) build(include, exclude []pointer) error {
	s.root = new(selector)
	if len(include) > 0 {
		s.root.others = leftOut
	}
	for _, p := range include {
		s.root.lead(p.tokens, nil)
	}
	for _, p := range exclude {
		within := func(i pointer) bool { return i.contains(p) && len(i.tokens) < len(p.tokens) }
		if len(include) > 0 && !slices.ContainsFunc(include, within) {
			return fmt.Errorf("in Exclude: %q is not within anything that Include names", p.text)
		}
		s.root.lead(p.tokens, leftOut)
	}
	return s.root.check()
}

// lead sets what counts of the value at the end of a path.
func (s *selector) lead(path []string, counts *selector) {
	if s.named == nil {
		s.named = make(map[string]*selector)
	}
	name := path[0]
	if len(path) == 1 {
		s.named[name] = counts
		return
	}
	next, ok := s.named[name]
	if !ok {
		next = s.others
	}
	if next == nil || next == leftOut {
		next = &selector{others: next}
		s.named[name] = next
	}
	next.lead(path[1:], counts)
}

// check refuses trees in which an element of an array would have two selectors.
func (s *selector) check() error {
	if s == nil {
		return nil
	}
	_, all := s.named["*"]
	for name, next := range s.named {
		if all && isIndex(name) {
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
	tokens []string
}

// contains reports whether q leads to p's value or into it.
func (p pointer) contains(q pointer) bool {
	return len(p.tokens) <= len(q.tokens) && slices.Equal(p.tokens, q.tokens[:len(p.tokens)])
}

// pointers parses JSON Pointers and sorts them. None may lead into another's value.
func pointers(texts []string) ([]pointer, error) {
	var list []pointer
	for _, text := range slices.Sorted(slices.Values(texts)) {
		p, err := parsePointer(text)
		if err != nil {
			return nil, err
		}
		for _, other := range list {
			if other.contains(p) {
				return nil, fmt.Errorf("%q is within %q: leave one of them out", p.text, other.text)
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
