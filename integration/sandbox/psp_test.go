package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func newPSP(t *testing.T, dir string) *psp {
	t.Helper()
	l, err := openLedger(dir)
	if err != nil {
		t.Fatal(err)
	}
	return &psp{secret: "s3cret", ledger: l, stop: context.Background()}
}

// chargeReply is an answer of the provider; a dropped connection has status 0.
type chargeReply struct {
	status int
	body   map[string]any
}

// post sends one charge for a key and a token.
func (p *psp) post(key, source string) chargeReply {
	return p.postBody(key, fmt.Sprintf(`{"amount":1299,"currency":"EUR","source":%q,"reference":"r"}`, source))
}

func (p *psp) postBody(key, body string) (out chargeReply) {
	r := httptest.NewRequest("POST", "/charges", strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer s3cret")
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	return p.do(r)
}

func (p *psp) do(r *http.Request) (out chargeReply) {
	w := httptest.NewRecorder()
	defer func() {
		if e := recover(); e == http.ErrAbortHandler {
			out = chargeReply{}
		} else if e != nil {
			panic(e)
		}
	}()
	p.ServeHTTP(w, r)
	out.status = w.Code
	_ = json.Unmarshal(w.Body.Bytes(), &out.body)
	return out
}

func TestTokens(t *testing.T) {
	for source, want := range map[string]struct {
		statuses []int // of three requests with one key
		charges  int
		code     string // of the first
	}{
		"tok_ok":       {[]int{201, 201, 201}, 1, ""},
		"tok_declined": {[]int{402, 402, 402}, 0, "card_declined"},
		"tok_unheard":  {[]int{402, 402, 402}, 0, "card_declined"},
		"tok_slow_x":   {[]int{402, 402, 402}, 0, "card_declined"},
		"tok_lost":     {[]int{0, 201, 201}, 1, ""},
		"tok_flaky":    {[]int{500, 201, 201}, 1, "internal"},
		"tok_busy":     {[]int{429, 201, 201}, 1, "busy"},
	} {
		t.Run(source, func(t *testing.T) {
			p := newPSP(t, "")
			var got []int
			for n := range 3 {
				r := p.post("k", source)
				got = append(got, r.status)
				if code, _ := r.body["code"].(string); n == 0 && code != want.code {
					t.Errorf("code %q, want %q", code, want.code)
				}
			}
			charges := p.ledger.charges("r")
			if diff := cmp.Diff(want.statuses, got); diff != "" || len(charges) != want.charges {
				t.Errorf("%s, %d charges", diff, len(charges))
			}
			if len(charges) > 0 && charges[0].Attempts != 3 {
				t.Errorf("%d attempts", charges[0].Attempts)
			}
			if p.requests.Load() != 3 {
				t.Errorf("%d requests", p.requests.Load())
			}
		})
	}
}

func TestSlowTokens(t *testing.T) {
	for source, chargedAfter := range map[string]time.Duration{"tok_slow_3000": 3 * time.Second, "tok_slow_after_3000": 0} {
		synctest.Test(t, func(t *testing.T) {
			p := newPSP(t, "")
			start := time.Now()
			var first chargeReply
			var took time.Duration
			go func() {
				first = p.post("k", source)
				took = time.Since(start)
			}()
			time.Sleep(chargedAfter - time.Millisecond)
			synctest.Wait()
			if chargedAfter > 0 && len(p.ledger.charges("")) != 0 {
				t.Errorf("%s: charged before its time", source)
			}
			time.Sleep(2 * time.Millisecond)
			synctest.Wait()
			if len(p.ledger.charges("")) != 1 {
				t.Errorf("%s: not charged after %v", source, chargedAfter)
			}
			if chargedAfter == 0 {
				if r := p.post("k", source); r.status != 409 || r.body["code"] != "key_in_flight" {
					t.Errorf("%s: meanwhile %+v", source, r)
				}
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			if first.status != 201 || took != 3*time.Second {
				t.Errorf("%s: %+v after %v", source, first, took)
			}
			start = time.Now()
			if again := p.post("k", source); again.status != 201 || again.body["id"] != first.body["id"] || time.Since(start) != 0 {
				t.Errorf("%s: then %+v after %v", source, again, time.Since(start))
			}
		})
	}
}

func TestKeyInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPSP(t, "")
		done := make(chan chargeReply)
		go func() { done <- p.post("k", "tok_slow_1000") }()
		synctest.Wait()
		if r := p.post("k", "tok_slow_1000"); r.status != 409 || r.body["code"] != "key_in_flight" {
			t.Errorf("same key: %+v", r)
		}
		if r := p.post("k", "tok_ok"); r.status != 422 || r.body["code"] != "key_reused" {
			t.Errorf("same key, other body: %+v", r)
		}
		if r := p.post("other", "tok_ok"); r.status != 201 {
			t.Errorf("other key: %+v", r)
		}
		<-done
	})
}

func TestStoppedProviderDoesNotCharge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		p := newPSP(t, "")
		p.stop = ctx
		done := make(chan chargeReply)
		go func() { done <- p.post("k", "tok_slow_1000") }()
		synctest.Wait()
		stop()
		if r := <-done; r.status != 0 || len(p.ledger.charges("")) != 0 {
			t.Errorf("%+v, charges %v", r, p.ledger.charges(""))
		}
	})
}

func TestChargeRefusals(t *testing.T) {
	p := newPSP(t, "")
	for name, tt := range map[string]struct {
		key, body string
		want      int
	}{
		"no key":           {"", `{"amount":1,"currency":"EUR","source":"tok_ok","reference":"r"}`, 400},
		"empty quoted key": {`""`, `{"amount":1,"currency":"EUR","source":"tok_ok","reference":"r"}`, 400},
		"unterminated key": {`"a`, `{"amount":1,"currency":"EUR","source":"tok_ok","reference":"r"}`, 400},
		"not JSON":         {"k", `{`, 400},
		"no amount":        {"k", `{"currency":"EUR","source":"tok_ok","reference":"r"}`, 400},
		"unknown member":   {"k", `{"amount":1,"currency":"EUR","source":"tok_ok","reference":"r","x":1}`, 400},
	} {
		if r := p.postBody(tt.key, tt.body); r.status != tt.want {
			t.Errorf("%s: %+v", name, r)
		}
	}
	r := httptest.NewRequest("POST", "/charges", nil)
	r.Header.Set("Authorization", "Bearer wrong")
	if got := p.do(r); got.status != 401 {
		t.Errorf("wrong secret: %+v", got)
	}
	if got := p.do(httptest.NewRequest("GET", "/charges", nil)); got.status != 404 {
		t.Errorf("GET: %+v", got)
	}
	if n := len(p.ledger.charges("")); n != 0 {
		t.Errorf("%d charges", n)
	}
}

func TestQuotedKeyIsBareKey(t *testing.T) {
	p := newPSP(t, "")
	a, b := p.post("k", "tok_ok"), p.post(`"k"`, "tok_ok")
	if a.status != 201 || a.body["id"] != b.body["id"] {
		t.Errorf("%+v %+v", a, b)
	}
	if a.body["status"] != "captured" || a.body["amount"] != 1299.0 || a.body["currency"] != "EUR" || a.body["reference"] != "r" {
		t.Errorf("charge %v", a.body)
	}
	if _, err := time.Parse(time.RFC3339, a.body["created_at"].(string)); err != nil {
		t.Error(err)
	}
}

func TestLedgerSurvives(t *testing.T) {
	dir := t.TempDir()
	p := newPSP(t, dir)
	first := p.post("ok", "tok_ok")
	p.post("lost", "tok_lost")
	p.post("declined", "tok_declined")
	p.post("flaky", "tok_flaky")
	if err := p.ledger.close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, ledgerFile)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(text, `{"key":"cut sho`...), 0o600); err != nil {
		t.Fatal(err)
	}
	p = newPSP(t, dir)
	defer p.ledger.close()
	if again := p.post("ok", "tok_ok"); again.body["id"] != first.body["id"] {
		t.Errorf("another charge after a restart: %+v", again)
	}
	got := []int{p.post("lost", "tok_lost").status, p.post("declined", "tok_declined").status, p.post("flaky", "tok_flaky").status, p.post("ok", "tok_busy").status}
	if diff := cmp.Diff([]int{201, 402, 201, 422}, got); diff != "" {
		t.Error(diff)
	}
	if charges := p.ledger.charges(""); len(charges) != 3 || charges[0].Attempts != 2 {
		t.Errorf("charges %+v", charges)
	}
}

func TestLedgerRefusesWhatItCannotRead(t *testing.T) {
	const good = `{"key":"k","request":{"amount":1,"currency":"EUR","source":"tok_ok","reference":"r"},"attempts":1}` + "\n"
	for name, tt := range map[string]struct {
		text string
		line int // of the complaint; 0: none
	}{
		"empty file":             {"", 0},
		"whole":                  {good + good, 0},
		"torn end":               {good + `{"key":"cut sho`, 0},
		"not JSON":               {good + "garbage\n" + good, 2},
		"cut in the middle":      {good[:20] + "\n" + good, 1},
		"last, but not torn":     {good + good + "garbage\n", 3},
		"empty line":             {good + "\n" + good, 2},
		"another JSON":           {"[]\n", 1},
		"no key":                 {good + "{}\n", 2},
		"two entries on a line":  {good[:len(good)-1] + good, 1},
		"after a very long line": {strings.Replace(good, `"k"`, `"`+strings.Repeat("k", 100_000)+`"`, 1) + "garbage\n", 2},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, ledgerFile)
			if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			l, err := openLedger(dir)
			if tt.line == 0 {
				if err != nil {
					t.Fatal(err)
				}
				_ = l.close()
				return
			}
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%s:%d: ", file, tt.line)) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line that names line %d", err, tt.line)
			}
			if left, _ := os.ReadFile(file); string(left) != tt.text {
				t.Errorf("the file was changed to %q", left)
			}
		})
	}
}

func TestLedgerKeepsLongEntries(t *testing.T) {
	dir := t.TempDir()
	p, long := newPSP(t, dir), strings.Repeat("k", 100_000)
	first := p.post(long, "tok_ok")
	if err := p.ledger.close(); err != nil {
		t.Fatal(err)
	}
	p = newPSP(t, dir)
	defer p.ledger.close()
	if again := p.post(long, "tok_ok"); again.status != 201 || again.body["id"] != first.body["id"] {
		t.Errorf("after a restart %+v, at first %+v", again, first)
	}
}
