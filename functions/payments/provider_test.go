package main

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
)

var testOrder = order{Amount: 1299, Currency: "EUR", Source: "tok_ok", Reference: "order-42", Metadata: `{"a":1}`}

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
		"id too long":        {201, strings.Replace(captured, "ch_1", strings.Repeat("c", 256), 1), errUnclear},
		"no id":              {201, strings.Replace(captured, "ch_1", "", 1), errUnclear},
		"another amount":     {201, strings.Replace(captured, "1299", "1298", 1), errUnclear},
		"amount as a string": {201, strings.Replace(captured, "1299", `"1299"`, 1), errUnclear},
		"no amount":          {201, `{"id":"ch_1","status":"captured","currency":"EUR"}`, errUnclear},
		"another currency":   {201, strings.Replace(captured, "EUR", "USD", 1), errUnclear},
		"not captured":       {201, strings.Replace(captured, `"captured"`, `"pending"`, 1), errUnclear},
		"not JSON":           {201, "<html>", errUnclear},
		"empty":              {201, "", errUnclear},
		"null":               {201, "null", errUnclear},
		"longest":            {201, captured + strings.Repeat(" ", maxAnswer-len(captured)), nil},
		"too long":           {201, captured + strings.Repeat(" ", maxAnswer-len(captured)+1), errUnclear},
		"declined":           {402, `{"code":"card_declined"}`, errDeclined},
		"busy":               {429, `{"code":"busy"}`, errBusy},
		"wrong secret":       {401, "", errUnclear},
		"key in flight":      {409, `{"code":"key_in_flight"}`, errUnavailable},
		"internal error":     {500, `{"code":"internal"}`, errUnavailable},
		"bad gateway":        {502, "", errUnavailable},
		"unavailable":        {503, "", errUnavailable},
		"bad request":        {400, "", errUnclear},
		"forbidden":          {403, "", errUnclear},
		"not found":          {404, "", errUnclear},
		"key reused":         {422, `{"code":"key_reused"}`, errUnclear},
		"ok, not created":    {200, captured, errUnclear},
		"redirect":           {307, "", errUnclear},
	} {
		t.Run(name, func(t *testing.T) {
			id, err := readAnswer(c.status, []byte(c.answer), testOrder)
			if !errors.Is(err, c.want) || (err == nil) != (id != "") {
				t.Errorf("got %q, %v; want %v", id, err, c.want)
			}
		})
	}
}

// The provider must get the same bytes for each spelling of one order, and no metadata.
func TestChargeRequest(t *testing.T) {
	var got *http.Request
	var sent []byte
	p := providerAt(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		sent, _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, captured)
	})
	id, err := p.charge(t.Context(), "the-key", testOrder)
	if err != nil || id != "ch_1" {
		t.Fatalf("got %q, %v", id, err)
	}
	want := `{"amount":1299,"currency":"EUR","source":"tok_ok","reference":"order-42"}`
	if string(sent) != want || got.Method != "POST" || got.URL.Path != "/v1/charges" {
		t.Errorf("sent %s %s %s", got.Method, got.URL, sent)
	}
	for name, want := range map[string]string{
		"Authorization": "Bearer " + testSecret, "Idempotency-Key": "the-key", "Content-Type": "application/json",
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
	if _, err := p.charge(ctx, "k", testOrder); !errors.Is(err, errUnavailable) || !errors.Is(err, context.Canceled) {
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
	if _, err := p.charge(ctx, "k", testOrder); !errors.Is(err, errUnavailable) {
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
			if _, err := p.charge(t.Context(), "k", testOrder); !errors.Is(err, errUnavailable) {
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
	p := newProvider("http://"+l.Addr().String(), fixedSecret(t))
	if _, err := p.charge(t.Context(), "k", testOrder); !errors.Is(err, errUnavailable) {
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
	if _, err := p.charge(t.Context(), "k", testOrder); !errors.Is(err, errUnclear) {
		t.Errorf("got %v", err)
	}
}

func TestChargeReadsNoEndlessAnswer(t *testing.T) {
	p := providerAt(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusCreated)
		for _, err := w.Write([]byte(captured)); err == nil; _, err = w.Write(make([]byte, 1024)) {
		}
	})
	if _, err := p.charge(t.Context(), "k", testOrder); !errors.Is(err, errUnclear) {
		t.Errorf("got %v", err)
	}
}

// A rotated secret costs one refused request, not ten minutes of them.
func TestChargeForgetsARefusedSecret(t *testing.T) {
	m := newSecretsManager(t, "old", "new")
	p := providerWith(t, m.secret(time.Now), func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer new" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, captured)
	})
	if _, err := p.charge(t.Context(), "k", testOrder); !errors.Is(err, errUnclear) {
		t.Errorf("with the old secret: %v", err)
	}
	if _, err := p.charge(t.Context(), "k", testOrder); err != nil {
		t.Errorf("with the new secret: %v", err)
	}
	if m.calls() != 2 {
		t.Errorf("the secret was read %d times", m.calls())
	}
}

func TestChargeWithoutASecretAsksNobody(t *testing.T) {
	p := providerWith(t, newSecretsManager(t).secret(time.Now), func(http.ResponseWriter, *http.Request) {
		t.Error("the provider was asked")
	})
	if _, err := p.charge(t.Context(), "k", testOrder); !errors.Is(err, errUnavailable) {
		t.Errorf("got %v", err)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func providerAt(t *testing.T, h http.HandlerFunc) *provider {
	t.Helper()
	return providerWith(t, fixedSecret(t), h)
}

func providerWith(t *testing.T, s *secret, h http.HandlerFunc) *provider {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	p := newProvider(server.URL+"/v1", s)
	t.Cleanup(p.http.CloseIdleConnections)
	return p
}
