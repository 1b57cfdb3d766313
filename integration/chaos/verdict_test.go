package chaos

import (
	"io"
	"strings"
	"testing"
)

// TestVerdict: everything that must not happen is found.
func TestVerdict(t *testing.T) {
	const one = "/payments/pay_1"
	paid := reply{status: 201, body: "{}", location: one, media: "application/json"}
	replay := paid
	replay.replayed = true
	other := replay
	other.body = "{ }"
	declined := reply{status: 402, code: "card-declined", body: "no"}
	for name, tt := range map[string]struct {
		replies []reply
		charges int
		items   []string
		replay  reply
		want    string // "": nothing is wrong
	}{
		"paid once":            {[]reply{paid}, 1, []string{"pay_1"}, replay, ""},
		"first answer lost":    {[]reply{{err: io.EOF}, {status: 500}, replay}, 1, []string{"pay_1"}, replay, ""},
		"with copies":          {[]reply{replay, paid, replay}, 1, []string{"pay_1"}, replay, ""},
		"declined":             {[]reply{declined}, 0, nil, declined, ""},
		"never answered":       {[]reply{{err: io.EOF}}, 0, nil, reply{}, "never answered"},
		"charged twice":        {[]reply{paid}, 2, []string{"pay_1"}, replay, "2 charges"},
		"not charged":          {[]reply{paid}, 0, []string{"pay_1"}, replay, "0 charges"},
		"declined and charged": {[]reply{declined}, 1, nil, declined, "1 charges"},
		"no payment":           {[]reply{paid}, 1, nil, replay, "0 payments"},
		"two payments":         {[]reply{paid}, 1, []string{"pay_1", "pay_2"}, replay, "2 payments"},
		"another payment":      {[]reply{paid}, 1, []string{"pay_2"}, replay, "the payment is pay_2"},
		"another byte":         {[]reply{paid}, 1, []string{"pay_1"}, other, "then 201"},
		"two answers":          {[]reply{paid, declined}, 1, []string{"pay_1"}, replay, "then 402"},
		"two first runs":       {[]reply{paid, paid}, 1, []string{"pay_1"}, replay, "2 answers of a first run"},
		"run again at the end": {[]reply{replay}, 1, []string{"pay_1"}, paid, "was a replay: false"},
		"key refused":          {[]reply{{status: 422, code: "key-reused"}, paid}, 1, []string{"pay_1"}, replay, "answered 422 key-reused"},
		"left to an operator":  {[]reply{{status: 409, code: "outcome-unknown"}, paid}, 1, []string{"pay_1"}, replay, "answered 409 outcome-unknown"},
		"a problem, no code":   {[]reply{{status: 418}, paid}, 1, []string{"pay_1"}, replay, "answered 418"},
	} {
		r := &result{op: operation{at: payments, key: "k"}}
		r.take(tt.replies)
		found := strings.Join(r.check(evidence{charges: tt.charges, payments: tt.items, replay: tt.replay}), "; ")
		if (found == "") != (tt.want == "") || !strings.Contains(found, tt.want) {
			t.Errorf("%s: found %q, want %q", name, found, tt.want)
		}
	}
}

// TestUnexplained: answers of the gateway need a kill or a timeout in the log, and nothing else may be there.
func TestUnexplained(t *testing.T) {
	for name, tt := range map[string]struct {
		log     string
		gateway int
		want    string
	}{
		"killed":       {"[F] RequestId: 1 the process ended: signal: killed", 1, ""},
		"timed out":    {"[F] RequestId: 1 Task timed out after 3.00 seconds", 1, ""},
		"not killed":   {"[F] {\"msg\":\"idempotency: fenced\"}", 1, "1 answers of the gateway, but only 0"},
		"crashed":      {"[F] RequestId: 1 the process ended: exit status 2", 0, "exit status 2"},
		"no process":   {"[F] RequestId: 1 throttled: 200 processes are running", 0, "throttled"},
		"panicked":     {"[F] panic: runtime error", 0, "panic: runtime error"},
		"said nothing": {"", 0, ""},
	} {
		l := &logWatch{to: io.Discard, outcomes: map[string]int{}}
		l.watch(strings.NewReader(tt.log + "\n"))
		y := newTally()
		for range tt.gateway {
			y.count(reply{status: 500})
		}
		found := strings.Join(y.unexplained(l), "; ")
		if (found == "") != (tt.want == "") || !strings.Contains(found, tt.want) {
			t.Errorf("%s: found %q, want %q", name, found, tt.want)
		}
	}
}
