package provider

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"firstwriter/functions/internal/provider/providertest"
)

var wanted = Charge{Amount: 1299, Currency: "EUR", Source: "tok_ok", Reference: "order-42"}

const captured = `{"id":"ch_1","status":"captured","amount":1299,"currency":"EUR","reference":"order-42","created_at":"2026-11-29T20:05:07Z"}`

func TestReadAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		answer string
		want   error
	}{
		"captured":           {201, captured, nil},
		"another spelling":   {201, `{"id":"ch_1","status":"captured","amount":12.99e2,"currency":"EUR"}`, nil},
		"longest id":         {201, strings.Replace(captured, "ch_1", strings.Repeat("c", 255), 1), nil},
		"id too long":        {201, strings.Replace(captured, "ch_1", strings.Repeat("c", 256), 1), ErrUnclear},
		"no id":              {201, strings.Replace(captured, "ch_1", "", 1), ErrUnclear},
		"another amount":     {201, strings.Replace(captured, "1299", "1298", 1), ErrUnclear},
		"amount as a string": {201, strings.Replace(captured, "1299", `"1299"`, 1), ErrUnclear},
		"no amount":          {201, `{"id":"ch_1","status":"captured","currency":"EUR"}`, ErrUnclear},
		"another currency":   {201, strings.Replace(captured, "EUR", "USD", 1), ErrUnclear},
		"not captured":       {201, strings.Replace(captured, `"captured"`, `"pending"`, 1), ErrUnclear},
		"not JSON":           {201, "<html>", ErrUnclear},
		"empty":              {201, "", ErrUnclear},
		"null":               {201, "null", ErrUnclear},
		"longest":            {201, captured + strings.Repeat(" ", maxAnswer-len(captured)), nil},
		"too long":           {201, captured + strings.Repeat(" ", maxAnswer-len(captured)+1), ErrUnclear},
		"declined":           {402, `{"code":"card_declined"}`, ErrDeclined},
		"busy":               {429, `{"code":"busy"}`, ErrBusy},
		"wrong secret":       {401, "", ErrUnclear},
		"key in flight":      {409, `{"code":"key_in_flight"}`, ErrUnavailable},
		"internal error":     {500, `{"code":"internal"}`, ErrUnavailable},
		"bad gateway":        {502, "", ErrUnavailable},
		"unavailable":        {503, "", ErrUnavailable},
		"bad request":        {400, "", ErrUnclear},
		"forbidden":          {403, "", ErrUnclear},
		"not found":          {404, "", ErrUnclear},
		"key reused":         {422, `{"code":"key_reused"}`, ErrUnclear},
		"ok, not created":    {200, captured, ErrUnclear},
		"redirect":           {307, "", ErrUnclear},
	} {
		t.Run(name, func(t *testing.T) {
			id, err := readAnswer(c.status, []byte(c.answer), wanted)
			if !errors.Is(err, c.want) || (err == nil) != (id != "") {
				t.Errorf("got %q, %v; want %v", id, err, c.want)
			}
		})
	}
}

// The provider must get the same bytes for each charge.
func TestChargeRequest(t *testing.T) {
	var got *http.Request
	var sent []byte
	p := providerAt(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		sent, _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, captured)
	})
	id, err := p.Charge(t.Context(), "the-key", wanted)
	if err != nil || id != "ch_1" {
		t.Fatalf("got %q, %v", id, err)
	}
	want := `{"amount":1299,"currency":"EUR","source":"tok_ok","reference":"order-42"}`
	if string(sent) != want || got.Method != "POST" || got.URL.Path != "/v1/charges" {
		t.Errorf("sent %s %s %s", got.Method, got.URL, sent)
	}
	for name, want := range map[string]string{
		"Authorization": "Bearer " + providertest.Secret, "Idempotency-Key": "the-key", "Content-Type": "application/json",
	} {
		if v := got.Header.Values(name); len(v) != 1 || v[0] != want {
			t.Errorf("%s: %q", name, v)
		}
	}
}

func TestChargeEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := providerAt(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // only then the server notices that the caller has gone
		cancel()                    // the handler's time is over while the provider works
		<-r.Context().Done()
	})
	if _, err := p.Charge(ctx, "k", wanted); !errors.Is(err, ErrUnavailable) || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// The time-out is the provider's share of a longer context; the transport shows it, so nobody waits for it.
func TestChargeHasItsOwnTimeout(t *testing.T) {
	var deadline time.Time
	p := providerAt(t, nil)
	p.http.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		deadline, _ = r.Context().Deadline()
		return nil, errors.New("enough seen")
	})
	before := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	if _, err := p.Charge(ctx, "k", wanted); !errors.Is(err, ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	if deadline.Before(before.Add(chargeTimeout)) || deadline.After(time.Now().Add(chargeTimeout)) {
		t.Errorf("the call may take until %v, %v from its start", deadline, deadline.Sub(before))
	}
}

func TestChargeLosesItsConnection(t *testing.T) {
	for name, write := range map[string]string{
		"before the answer": "",
		"in the answer":     "HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\n{",
	} {
		t.Run(name, func(t *testing.T) {
			p := providerAt(t, func(w http.ResponseWriter, r *http.Request) {
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				io.WriteString(conn, write)
				conn.Close()
			})
			if _, err := p.Charge(t.Context(), "k", wanted); !errors.Is(err, ErrUnavailable) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestChargeFindsNobody(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	p := New("http://"+l.Addr().String(), fixedSecret(t))
	if _, err := p.Charge(t.Context(), "k", wanted); !errors.Is(err, ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

// A provider's redirect would carry the secret and the card's token to another host.
func TestChargeFollowsNoRedirect(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the redirect was followed")
	}))
	defer elsewhere.Close()
	p := providerAt(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	})
	if _, err := p.Charge(t.Context(), "k", wanted); !errors.Is(err, ErrUnclear) {
		t.Errorf("got %v", err)
	}
}

func TestChargeReadsNoEndlessAnswer(t *testing.T) {
	p := providerAt(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusCreated)
		for _, err := w.Write([]byte(captured)); err == nil; _, err = w.Write(make([]byte, 1024)) {
		}
	})
	if _, err := p.Charge(t.Context(), "k", wanted); !errors.Is(err, ErrUnclear) {
		t.Errorf("got %v", err)
	}
}

// A rotated secret costs one refused request, not ten minutes of them.
func TestChargeForgetsARefusedSecret(t *testing.T) {
	m := providertest.NewSecretsManager(t, "old", "new")
	p := providerWith(t, secretFrom(m, time.Now), func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer new" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, captured)
	})
	if _, err := p.Charge(t.Context(), "k", wanted); !errors.Is(err, ErrUnclear) {
		t.Errorf("with the old secret: %v", err)
	}
	if _, err := p.Charge(t.Context(), "k", wanted); err != nil {
		t.Errorf("with the new secret: %v", err)
	}
	if m.Calls() != 2 {
		t.Errorf("the secret was read %d times", m.Calls())
	}
}

func TestChargeWithoutASecretAsksNobody(t *testing.T) {
	p := providerWith(t, secretFrom(providertest.NewSecretsManager(t), time.Now), func(http.ResponseWriter, *http.Request) {
		t.Error("the provider was asked")
	})
	if _, err := p.Charge(t.Context(), "k", wanted); !errors.Is(err, ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func providerAt(t *testing.T, h http.HandlerFunc) *Client {
	t.Helper()
	return providerWith(t, fixedSecret(t), h)
}

func providerWith(t *testing.T, s *Secret, h http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	p := New(server.URL+"/v1", s)
	t.Cleanup(p.http.CloseIdleConnections)
	return p
}
