package acceptance

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Case is a sequence of steps and what must hold after them.
type Case struct {
	Name    string         `json:"name"`
	Why     string         `json:"why"`
	Slow    bool           `json:"slow"` // run only with -slow
	Steps   []Step         `json:"steps"`
	Charges map[string]int `json:"charges"` // reference -> charges that the provider must hold at the end
	Events  map[string]int `json:"events"`  // reference -> events that must be published, without duplicates
	Stock   map[string]int `json:"stock"`   // sku -> pieces that must have come to the stock; below zero: left it
}

// Step is one request, or Parallel equal ones, or a control call of the sandbox.
type Step struct {
	As         string            `json:"as"`     // "tenant/subject"; "" sends no token
	Method     string            `json:"method"` // POST if left out
	Path       string            `json:"path"`
	LocationOf *int              `json:"location_of"` // instead of path: the Location of step N's answer
	Key        string            `json:"key"`         // sent as it stands in Idempotency-Key
	Headers    map[string]string `json:"headers"`     // "a\nb" sends two values
	Body       json.RawMessage   `json:"body"`        // sent as these very bytes, after $ replacement
	Raw        *string           `json:"raw"`         // instead of body: any bytes
	Type       string            `json:"type"`        // Content-Type; application/json if left out
	PadTo      int               `json:"pad_to"`      // replaces "$PAD" so that the body has about this many bytes
	Repeat     *int              `json:"repeat"`      // send step N again, with this step's other fields laid over it
	Parallel   int               `json:"parallel"`
	Start      bool              `json:"start"`   // do not wait for the answer; a later step joins it
	Join       *int              `json:"join"`    // wait for the answer of started step N and check it here
	WaitMS     int               `json:"wait_ms"` // before the step
	Control    string            `json:"control"` // "POST /_sandbox/fault {...}"
	Until      *Until            `json:"until"`   // repeat the step until its status matches, or fail
	Expect     Expect            `json:"expect"`
}

// Until polls.
type Until struct {
	Status int `json:"status"`
	MaxMS  int `json:"max_ms"`
}

// Expect is checked against each answer; what is left out is not checked.
type Expect struct {
	Status      []int             `json:"status"`      // any of these
	Replayed    *bool             `json:"replayed"`    // the replay header is "true"; false: it is absent
	Code        string            `json:"code"`        // of the problem document, in answers of 400 and more
	SameAs      *int              `json:"same_as"`     // step N's status, body bytes, Content-Type and Location
	Header      map[string]string `json:"header"`      // value; "*" any; "" absent
	JSON        map[string]any    `json:"json"`        // JSON pointer -> value; "*" any; 0 also matches an absent one
	NotInBody   []string          `json:"not_in_body"` // strings that must not leak
	RetryAfter  bool              `json:"retry_after"` // whole seconds, at least 1, in answers of 400 and more
	RetryMax    int               `json:"retry_max"`   // with retry_after: at most that many
	FirstRuns   *int              `json:"first_runs"`  // with parallel: how many answers are 2xx and not replayed
	MaxMS       int               `json:"max_ms"`      // answered within
	BodyAtLeast int               `json:"body_at_least"`
}

// runID makes the values of one run its own, so that cases can be run again on the same data.
var runID = strconv.FormatInt(time.Now().UnixNano(), 36)

// load reads a case and replaces its $NAMEs.
func load(file string) (c Case, err error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return c, err
	}
	id := strings.TrimSuffix(filepath.Base(file), ".json")
	dec := json.NewDecoder(strings.NewReader(fill(string(b), id)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return c, err
	}
	if c.Name != id {
		return c, fmt.Errorf("the case's name is %q", c.Name)
	}
	return c, c.valid()
}

// fill replaces each $NAME but $PAD by a value unique to this run and case.
func fill(s, id string) string {
	return regexp.MustCompile(`\$[A-Z][A-Z0-9]*`).ReplaceAllStringFunc(s, func(m string) string {
		if m == "$PAD" {
			return m
		}
		return strings.ToLower(m[1:]) + "-" + runID + "-" + strings.ReplaceAll(id, "-", "")
	})
}

// valid refuses what run would pass over in silence, or hang on.
func (c Case) valid() error {
	joined := map[int]bool{}
	for i, s := range c.Steps {
		for _, n := range []*int{s.Repeat, s.Join, s.LocationOf, s.Expect.SameAs} {
			if n != nil && (*n < 0 || *n >= i || c.Steps[*n].Control != "") {
				return fmt.Errorf("step %d: step %d is no earlier request", i, *n)
			}
		}
		if s.Join != nil {
			if !c.Steps[*s.Join].Start || joined[*s.Join] {
				return fmt.Errorf("step %d: nothing to join in step %d", i, *s.Join)
			}
			joined[*s.Join] = true
		}
		if s.Repeat != nil && c.Steps[*s.Repeat].Join != nil {
			return fmt.Errorf("step %d: repeats a join", i)
		}
		if (s.Start || s.Control != "") && !reflect.DeepEqual(s.Expect, Expect{}) {
			return fmt.Errorf("step %d: nothing checks what it expects", i)
		}
		if (s.Expect.Code != "" || s.Expect.RetryAfter) && len(s.Expect.Status) == 0 {
			return fmt.Errorf("step %d: expects a problem and no status", i)
		}
	}
	for i, s := range c.Steps {
		if s.Start && !joined[i] {
			return fmt.Errorf("step %d: started, never joined", i)
		}
	}
	return nil
}
