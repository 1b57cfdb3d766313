package sandbox

import (
	"errors"
	"net/http/httptest"
	"testing"
	"testing/iotest"
)

// TestBrokenResponse: a process that is killed while it answers has crashed; it has not failed.
func TestBrokenResponse(t *testing.T) {
	inv := &invocation{id: "1", done: make(chan outcome, 1)}
	a := &runtimeAPI{current: inv, answered: func() { t.Error("it counts as answered") }}
	r := httptest.NewRequest("POST", "/2018-06-01/runtime/invocation/1/response", iotest.ErrReader(errors.New("connection reset")))
	r.SetPathValue("id", "1")
	a.response(httptest.NewRecorder(), r)
	select {
	case out := <-inv.done:
		t.Errorf("outcome %+v", out)
	default:
	}
}
