package dynamostore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/idempotency"
)

// noise is a result that does not compress.
func noise(size int) []byte {
	b := make([]byte, size)
	rand.NewChaCha8([32]byte{}).Read(b)
	return b
}

// TestStepPlacement: results stand in the record as long as it stays within one write unit, whether the attempt has
// recorded the earlier ones itself or has read them.
func TestStepPlacement(t *testing.T) {
	sizes := []int{100, 60, 5000, 40, 600, 2, 20}
	for _, reread := range []bool{false, true} {
		held, it := processing(), encode(processing())
		steps := item{}
		var apart []int
		for n, size := range sizes {
			step := idempotency.RecordedStep{Name: fmt.Sprint("step-", n), Result: fmt.Appendf(nil, "%q", bytes.Repeat([]byte("x"), size-2))}
			steps[step.Name], _ = placeStep(held, step)
			it["steps"] = &types.AttributeValueMemberM{Value: steps}
			if steps[step.Name].(*types.AttributeValueMemberM).Value["chunks"] != nil {
				apart = append(apart, size)
			}
			if held.Steps = append(held.Steps, step); reread {
				held = decode(it)
			}
			if held.Fault != nil || len(held.Steps) != n+1 || held.Steps[n].Name != step.Name {
				t.Fatalf("%v, %v", held.Fault, held.Steps)
			}
		}
		if size := itemSize(it); size > recordSize {
			t.Errorf("reread %v: a record of %d bytes", reread, size)
		}
		if want := []int{5000, 600}; !reflect.DeepEqual(apart, want) {
			t.Errorf("reread %v: results of %v bytes are kept apart, want %v", reread, apart, want)
		}
	}
}

// TestLargestStep: a result of the greatest size fits into one item.
func TestLargestStep(t *testing.T) {
	result, err := json.Marshal(noise(idempotency.MaxStepResult / 4 * 3))
	if err != nil {
		t.Fatal(err)
	}
	if len(result) < idempotency.MaxStepResult {
		t.Fatalf("%d bytes", len(result))
	}
	if _, b := placeStep(processing(), idempotency.RecordedStep{Name: "x", Result: result}); b == nil || len(b.chunks) != 1 {
		t.Errorf("%+v", b)
	}
}

// TestDamagedSteps: what is not a step makes the record unreadable: F34.
func TestDamagedSteps(t *testing.T) {
	step := func(change func(item)) types.AttributeValue {
		m := item{"n": num(0), "r": str("1")}
		change(m)
		return &types.AttributeValueMemberM{Value: m}
	}
	sound := step(func(item) {})
	for what, c := range map[string]struct {
		steps types.AttributeValue
		says  string
	}{
		"a list":           {&types.AttributeValueMemberL{}, "of a wrong type"},
		"a step of text":   {&types.AttributeValueMemberM{Value: item{"a": str("1")}}, "something else than maps"},
		"no name":          {&types.AttributeValueMemberM{Value: item{"": sound}}, "a place that is not its own"},
		"no place":         {&types.AttributeValueMemberM{Value: item{"a": step(func(m item) { delete(m, "n") })}}, `"n" is missing`},
		"a gap":            {&types.AttributeValueMemberM{Value: item{"a": step(func(m item) { m["n"] = num(1) })}}, "a place that is not its own"},
		"a negative place": {&types.AttributeValueMemberM{Value: item{"a": step(func(m item) { m["n"] = num(-1) })}}, "a place that is not its own"},
		"two in one place": {&types.AttributeValueMemberM{Value: item{"a": sound, "b": sound}}, "a place that is not its own"},
		"no result":        {&types.AttributeValueMemberM{Value: item{"a": step(func(m item) { delete(m, "r") })}}, `"owner" is missing`},
		"a binary result":  {&types.AttributeValueMemberM{Value: item{"a": step(func(m item) { m["r"] = bin([]byte("1")) })}}, `"r" is of a wrong type`},
	} {
		it := encode(processing())
		it["steps"] = c.steps
		if r := decode(it); r.Fault == nil || !strings.Contains(r.Fault.Error(), c.says) {
			t.Errorf("%s: %v, want %q", what, r.Fault, c.says)
		}
	}
	it := encode(processing())
	it["undo_failures"] = str("2")
	if r := decode(it); r.Fault == nil {
		t.Error("undo_failures as text is accepted")
	}
}

// TestSmallStepsStay: a result that takes no more room than to say where it is stays in the record, however many there are.
func TestSmallStepsStay(t *testing.T) {
	held := processing()
	for n := range idempotency.MaxSteps {
		step := idempotency.RecordedStep{Name: fmt.Sprint("step-", n), Result: []byte(`"done"`)}
		if _, apart := placeStep(held, step); apart != nil {
			t.Fatalf("the result of step %d is kept apart", n)
		}
		held.Steps = append(held.Steps, step)
	}
	if _, apart := placeStep(held, idempotency.RecordedStep{Name: "last", Result: noise(200)}); apart == nil {
		t.Error("a result of 200 bytes stays in a record of many steps")
	}
}
