package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"firstwriter/integration/dynamofake"
)

// maxFaultDelay is the longest delay that a fault can ask for: no function runs longer.
const maxFaultDelay = 15 * time.Minute

// faultRequest is the body of POST /_sandbox/fault.
type faultRequest struct {
	Op    string               `json:"op"`    // "": any
	Nth   int                  `json:"nth"`   // the first call it hits, from 1
	Times int                  `json:"times"` // how many; negative: until a reset
	Kind  dynamofake.FaultKind `json:"kind"`
	MS    int64                `json:"ms"`    // of a delay
	Table string               `json:"table"` // "": any
}

// readFault reads one JSON object and nothing else. nth and times are 1 where they are left out.
func readFault(body io.Reader) (*faultRequest, error) {
	in := &faultRequest{Nth: 1, Times: 1}
	dec := json.NewDecoder(body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return nil, explainJSON(err)
	}
	if in == nil { // null
		return nil, errNoObject
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is text after the JSON object")
	}
	return in, nil
}

var errNoObject = errors.New("a JSON object is expected, with op and kind")

// explainJSON says what the writer of the JSON did wrong, without the names of Go's types.
func explainJSON(err error) error {
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field != "":
		return fmt.Errorf("%q cannot be a JSON %s", wrong.Field, wrong.Value)
	case errors.As(err, &wrong), errors.Is(err, io.EOF):
		return errNoObject
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the JSON object is cut short")
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

// check refuses what would do something else than it says. Calls and kinds are the database's to check.
func (f *faultRequest) check(tables []string) error {
	switch most := maxFaultDelay.Milliseconds(); {
	case f.Nth < 1:
		return fmt.Errorf("nth is %d; the first call is 1", f.Nth)
	case f.Times == 0:
		return errors.New("times is 0; once is 1, and -1 lasts until a reset")
	case f.Kind == dynamofake.FaultDelay && (f.MS < 1 || f.MS > most):
		return fmt.Errorf("ms is %d; a delay takes 1 to %d", f.MS, most)
	case f.Kind != dynamofake.FaultDelay && f.MS != 0:
		return fmt.Errorf("ms is %d; it goes with the kind delay alone", f.MS)
	case f.Table != "" && !slices.Contains(tables, f.Table):
		return fmt.Errorf("the template has no table %q; its tables are %s", f.Table, strings.Join(tables, ", "))
	}
	return nil
}

func (f *faultRequest) fault() dynamofake.Fault {
	return dynamofake.Fault{
		Op: f.Op, Nth: f.Nth, Times: f.Times, Kind: f.Kind, Delay: time.Duration(f.MS) * time.Millisecond, Table: f.Table,
	}
}
