package httpclient

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// moving is a base that redirects /a to /b, and has /b answer what it is told, one status after another; the last one
// stays.
type moving struct {
	statuses []int
	sent     []string
}

func (m *moving) RoundTrip(req *http.Request) (*http.Response, error) {
	m.sent = append(m.sent, req.URL.Path)
	res := &http.Response{StatusCode: http.StatusTemporaryRedirect, Header: http.Header{"Location": {"/b"}}, Body: http.NoBody}
	if req.URL.Path == "/b" {
		res.StatusCode = m.statuses[0]
		m.statuses = m.statuses[min(1, len(m.statuses)-1):]
	}
	return res, nil
}

// moved sends an operation to /a that is redirected to /b, and is not answered there.
func moved(t *testing.T, d Journal, statuses ...int) (*Transport, *moving, *http.Request) {
	t.Helper()
	m := &moving{statuses: append([]int{503, 503}, statuses...)}
	tr := newTransport(t, quick(func(c *Config) { c.Base, c.Journal, c.MaxAttempts = m, d, 2 }))
	req := post(t, "http://server/a", "order")
	req = req.WithContext(WithKey(req.Context(), "k"))
	client := http.Client{Transport: tr}
	if _, err := client.Do(req); !errors.Is(err, ErrOutcomeUnknown) || !slices.Equal(m.sent, []string{"/a", "/b", "/b"}) {
		t.Fatalf("%v, sent to %v", err, m.sent)
	}
	m.sent = nil
	return tr, m, post(t, "http://server/a", "order").WithContext(req.Context())
}

// TestRedirectedAgain: an operation that was redirected is the one that was sent first, so it goes on when it is sent
// again with its key, and ends with the answer of the place to which it was redirected.
func TestRedirectedAgain(t *testing.T) {
	d := openDir(t)
	tr, m, again := moved(t, d, 201)
	client := http.Client{Transport: tr}
	res, err := client.Do(again)
	if err != nil || res.StatusCode != 201 || !slices.Equal(m.sent, []string{"/a", "/b"}) {
		t.Fatalf("%v, sent to %v", err, m.sent)
	}
	all, err := d.Entries()
	if err != nil || len(all) != 1 || all[0].Status != 201 || all[0].URL != "http://server/a" {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestRedirectedResume: it is resumed at the place to which it was redirected, since nobody follows a redirect then.
func TestRedirectedResume(t *testing.T) {
	d := openDir(t)
	tr, m, again := moved(t, d, 201)
	if res, _, err := tr.Do(again); err != nil || res.StatusCode != 307 {
		t.Fatalf("%v, %v", res, err)
	}
	live, _, err := tr.Unfinished()
	if err != nil || len(live) != 1 || live[0].URL != "http://server/a" || live[0].Hop != "http://server/b" {
		t.Fatalf("a redirect that nobody followed ended it: %+v, %v", live, err)
	}
	req, err := live[0].Request(t.Context(), []byte("order"))
	if err != nil {
		t.Fatal(err)
	}
	res, out, err := tr.Do(req)
	if err != nil || res.StatusCode != 201 || !out.Final || !slices.Equal(m.sent, []string{"/a", "/b"}) {
		t.Fatalf("%+v, %v, sent to %v", out, err, m.sent)
	}
	all, err := d.Entries()
	if err != nil || len(all) != 1 || all[0].Status != 201 || all[0].URL != "http://server/a" {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestUnfinishedKey: who sends another request with the key of an unfinished operation is warned not to take a new key.
func TestUnfinishedKey(t *testing.T) {
	d := openDir(t)
	tr, m, again := moved(t, d, 503, 503, 201)
	for _, other := range []*http.Request{post(t, "http://server/c", "order"), post(t, "http://server/a", "other")} {
		_, _, err := tr.Do(other.WithContext(again.Context()))
		if !errors.Is(err, ErrKeyUsed) || len(m.sent) != 0 || !strings.Contains(err.Error(), "may take effect twice") || strings.Contains(err.Error(), "key of its own") {
			t.Errorf("unfinished: %v, sent to %v", err, m.sent)
		}
	}
	live, _, err := tr.Unfinished()
	if err != nil || len(live) != 1 {
		t.Fatalf("%+v, %v", live, err)
	}
	if _, err := live[0].Request(t.Context(), []byte("other")); !errors.Is(err, ErrKeyUsed) || !strings.Contains(err.Error(), "may take effect twice") {
		t.Errorf("resumed with another body: %v", err)
	}
	if err := d.Finish(live[0].answered(Outcome{Status: 201}, live[0].At)); err != nil {
		t.Fatal(err)
	}
	_, _, err = tr.Do(post(t, "http://server/a", "other").WithContext(again.Context()))
	if !errors.Is(err, ErrKeyUsed) || !strings.Contains(err.Error(), "give this one a key of its own") || strings.Contains(err.Error(), "twice") {
		t.Errorf("finished: %v", err)
	}
}
