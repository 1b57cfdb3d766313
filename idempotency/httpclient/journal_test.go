//go:build unix

package httpclient

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// openDir opens a journal in a folder of the test's own.
func openDir(t testing.TB) *Dir {
	t.Helper()
	d, err := OpenDir(filepath.Join(t.TempDir(), "journal"))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// withJournal makes a transport whose base answers as it is told.
func withJournal(t testing.TB, d Journal, keep bool, steps ...step) (*Transport, *script) {
	t.Helper()
	s := &script{steps: steps}
	return newTransport(t, quick(func(c *Config) {
		c.Base, c.Journal, c.KeepBodies, c.MaxAttempts, c.MaxBody = s, d, keep, 2, 1000
	})), s
}

// TestJournal: an operation is in the journal before it is sent, goes on with its key, and ends with its outcome.
func TestJournal(t *testing.T) {
	for _, keep := range []bool{false, true} {
		d := openDir(t)
		tr, s := withJournal(t, d, keep, step{status: 503}, step{err: errBroken}, step{status: 201, header: "Idempotent-Replayed: true"})
		req := post(t, "http://user:password@server/payments?a=b#part", "order")
		req.Header.Set("Authorization", "Bearer secret")
		_, out, err := tr.Do(req)
		if !errors.Is(err, ErrOutcomeUnknown) {
			t.Fatal(err)
		}
		live, forgotten, err := tr.Unfinished()
		if len(live) != 1 || len(forgotten) != 0 || err != nil {
			t.Fatalf("%+v, %+v, %v", live, forgotten, err)
		}
		e := live[0]
		if e.Key != out.Key || e.URL != "http://server/payments?a=b" || len(e.Header) != 1 || e.Until.Sub(e.At) != 24*time.Hour || keep != (string(e.Body) == "order") {
			t.Errorf("%+v", e)
		}
		checkFiles(t, d, keep)
		again, err := e.Request(t.Context(), []byte("order"))
		if err != nil {
			t.Fatal(err)
		}
		_, out, err = tr.Do(again)
		if err != nil || out.Key != e.Key || !out.Replayed || s.text[2] != "order" || s.sent[2].Header.Get("Content-Type") != "application/json" {
			t.Errorf("%+v, %v, %q", out, err, s.text)
		}
		if live, _, err := tr.Unfinished(); len(live) != 0 || err != nil {
			t.Errorf("%+v, %v", live, err)
		}
		if all, err := d.Entries(); err != nil || len(all) != 1 || all[0].Status != 201 || !all[0].Replayed || all[0].Body != nil || all[0].At != e.At {
			t.Errorf("%+v, %v", all, err)
		}
	}
}

// checkFiles: only the owner can read what is kept, and neither credentials nor, unless asked for, the body are.
func checkFiles(t *testing.T, d *Dir, keep bool) {
	t.Helper()
	info, err := os.Stat(d.path)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	err = filepath.WalkDir(d.path, func(path string, f fs.DirEntry, err error) error {
		if err != nil || f.IsDir() {
			return err
		}
		info, err := f.Info()
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
		text, err := os.ReadFile(path)
		for _, secret := range []string{"secret", "password"} {
			if strings.Contains(string(text), secret) {
				t.Errorf("%s holds %s", path, secret)
			}
		}
		if strings.Contains(string(text), `"body":`) != keep {
			t.Errorf("%s: keep %v: %s", path, keep, text)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestFollow: what becomes of an operation whose key the journal knows.
func TestFollow(t *testing.T) {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	entry := func(change func(*Entry)) Entry {
		e := Entry{Key: "k", Method: "POST", URL: "http://server/", BodyHash: []byte("hash"), At: now.Add(-time.Hour), Until: now.Add(23 * time.Hour)}
		if change != nil {
			change(&e)
		}
		return e
	}
	begun := entry(func(e *Entry) { e.At, e.Until = now, now.Add(24*time.Hour) })
	for name, c := range map[string]struct {
		old   Entry
		err   error
		fresh bool // it starts anew
	}{
		"redirected, unfinished":    {entry(func(e *Entry) { e.Hop = "http://server/new" }), nil, false},
		"sent on":                   {entry(func(e *Entry) { e.URL, e.Hop = "http://server/old", "http://server/" }), nil, false},
		"other URL, finished":       {entry(func(e *Entry) { e.URL, e.Status = "http://other/", 201 }), ErrKeyUsed, false},
		"goes on":                   {entry(nil), nil, false},
		"finished":                  {entry(func(e *Entry) { e.Status = 201 }), nil, false},
		"other body":                {entry(func(e *Entry) { e.BodyHash = nil }), ErrKeyUsed, false},
		"other body, finished":      {entry(func(e *Entry) { e.BodyHash, e.Status = nil, 201 }), ErrKeyUsed, false},
		"other method":              {entry(func(e *Entry) { e.Method = "PUT" }), ErrKeyUsed, false},
		"other URL":                 {entry(func(e *Entry) { e.URL = "http://other/" }), ErrKeyUsed, false},
		"redirected":                {entry(func(e *Entry) { e.Status = 307 }), nil, false},
		"at the end of retention":   {entry(func(e *Entry) { e.Until = now }), ErrKeyForgotten, false},
		"just before":               {entry(func(e *Entry) { e.Until = now.Add(1) }), nil, false},
		"past it, finished":         {entry(func(e *Entry) { e.Until, e.Status = now, 201 }), nil, true},
		"past it, other, finished":  {entry(func(e *Entry) { e.Until, e.Status, e.BodyHash = now, 201, nil }), nil, true},
		"past it, other body":       {entry(func(e *Entry) { e.Until, e.BodyHash = now, nil }), ErrKeyUsed, false},
		"the clock was set a bit":   {entry(func(e *Entry) { e.At = now.Add(time.Minute) }), nil, false},
		"the clock was set far off": {entry(func(e *Entry) { e.At, e.Until = now.Add(time.Hour), now.Add(25*time.Hour) }), ErrFromFuture, false},
	} {
		got, err := begun.Follow(c.old)
		if !errors.Is(err, c.err) {
			t.Errorf("%s: %v", name, err)
		}
		want := c.old.At
		if c.fresh {
			want = now
		}
		if err == nil && (!got.At.Equal(want) || got.Status != 0 || got.URL != c.old.URL || got.Hop != c.old.Hop) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestRetention: a resumed operation is not sent later than the server remembers its key; what is past that is dropped.
func TestRetention(t *testing.T) {
	d := openDir(t)
	tr, s := withJournal(t, d, false, step{status: 201})
	sum := sha256.Sum256([]byte("order"))
	old := Entry{Key: "old", Method: "POST", URL: "http://server/", BodyHash: sum[:], At: time.Now().Add(-25 * time.Hour), Until: time.Now().Add(-time.Hour)}
	done := old
	done.Key, done.Status = "done", 201
	for _, e := range []Entry{old, done} {
		if _, err := d.Begin(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Finish(done); err != nil {
		t.Fatal(err)
	}
	req, err := old.Request(t.Context(), []byte("order"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := tr.Do(req); !errors.Is(err, ErrKeyForgotten) || len(s.sent) != 0 {
		t.Errorf("%v, sent %d times", err, len(s.sent))
	}
	live, forgotten, err := tr.Unfinished()
	if len(live) != 0 || len(forgotten) != 1 || forgotten[0].Key != "old" || err != nil {
		t.Errorf("%+v, %+v, %v", live, forgotten, err)
	}
	if all, err := d.Entries(); len(all) != 0 || err != nil {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestResumedLate: what is resumed shortly before the end of the retention is not sent after it.
func TestResumedLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDir(t)
		s := &script{steps: []step{{hangs: true}}}
		tr := newTransport(t, Config{Base: s, Journal: d})
		now, sum := time.Now().UTC(), sha256.Sum256([]byte("order"))
		until := now.Add(10 * time.Second)
		e := Entry{Key: "k", Method: "POST", URL: "http://server/", BodyHash: sum[:], At: now.Add(-time.Hour), Until: until}
		if _, err := d.Begin(e); err != nil {
			t.Fatal(err)
		}
		_, _, err := tr.Do(post(t, e.URL, "order").WithContext(WithKey(t.Context(), "k")))
		if !errors.Is(err, ErrOutcomeUnknown) || time.Now().After(until) || len(s.sent) != 1 {
			t.Errorf("%v, sent %d times, until %v after the end", err, len(s.sent), time.Since(until))
		}
	})
}

// TestOtherBody: a key that the journal knows is refused for another body, and the operation that has it stays.
func TestOtherBody(t *testing.T) {
	d := openDir(t)
	tr, s := withJournal(t, d, false, step{status: 503})
	ctx := WithKey(t.Context(), "k")
	_, _, err := tr.Do(post(t, "http://server/", "one").WithContext(ctx))
	if !errors.Is(err, ErrOutcomeUnknown) {
		t.Fatal(err)
	}
	sent := len(s.sent)
	if _, _, err := tr.Do(post(t, "http://server/", "two").WithContext(ctx)); !errors.Is(err, ErrKeyUsed) || len(s.sent) != sent {
		t.Errorf("%v, sent %d times", err, len(s.sent))
	}
	live, _, err := tr.Unfinished()
	if err != nil || len(live) != 1 {
		t.Fatalf("%+v, %v", live, err)
	}
	if _, err := live[0].Request(ctx, []byte("two")); !errors.Is(err, ErrKeyUsed) {
		t.Error(err)
	}
	if _, err := live[0].Request(ctx, nil); !errors.Is(err, ErrNeedsBody) {
		t.Error(err)
	}
}

// TestJournalNeedsBody: what cannot be read before it is sent is not sent.
func TestJournalNeedsBody(t *testing.T) {
	for _, keep := range []bool{false, true} {
		tr, s := withJournal(t, openDir(t), keep, step{status: 201})
		req := post(t, "http://server/", "")
		req.Body, req.GetBody = io.NopCloser(strings.NewReader(strings.Repeat("x", 1001))), nil
		if _, _, err := tr.Do(req); !errors.Is(err, ErrBodyOnce) || len(s.sent) != 0 {
			t.Errorf("%v, sent %d times", err, len(s.sent))
		}
		_, _, err := tr.Do(post(t, "http://server/", strings.Repeat("x", 1001))) // can be read twice
		if (err != nil) != keep {
			t.Errorf("keep %v: %v", keep, err)
		}
	}
}

// TestFullDisk: where the journal cannot be written nothing is sent and nothing is left; an answer that cannot be noted is
// given all the same, and the operation can be resumed.
func TestFullDisk(t *testing.T) {
	for _, at := range []string{"create", "write", "sync", "rename", "sync folder"} {
		for _, second := range []bool{false, true} {
			d := openDir(t)
			fails := !second
			d.hook = func(step string) error {
				if fails && step == at {
					return syscall.ENOSPC
				}
				return nil
			}
			tr, s := withJournal(t, d, false, step{status: 201, body: "paid"})
			base := tr.cfg.Base
			tr.cfg.Base = roundTripper(func(r *http.Request) (*http.Response, error) { fails = true; return base.RoundTrip(r) })
			res, out, err := tr.Do(post(t, "http://server/", "order"))
			fails = false
			live, _, listErr := tr.Unfinished()
			files, _ := filepath.Glob(d.path + "/" + tempPrefix + "*")
			if listErr != nil || len(files) != 0 {
				t.Errorf("%s: left %v, %v", at, files, listErr)
			}
			if !second && (!errors.Is(err, syscall.ENOSPC) || len(s.sent) != 0 || len(live) != 0) {
				t.Errorf("%s, first: %v, sent %d times, left %+v", at, err, len(s.sent), live)
			}
			if second && (err != nil || res.StatusCode != 201 || !out.Final || !errors.Is(out.Unrecorded, syscall.ENOSPC)) {
				t.Errorf("%s, second: %+v, %v", at, out, err)
			}
			if second && at != "sync folder" && len(live) != 1 {
				t.Errorf("%s, second: unfinished %+v", at, live)
			}
		}
	}
}

// TestOthersEntry: what another process has begun meanwhile stays where the own entry cannot be written.
func TestOthersEntry(t *testing.T) {
	sum := sha256.Sum256([]byte("order"))
	e := Entry{Key: "k", Method: "POST", URL: "http://server/", BodyHash: sum[:], At: time.Now(), Until: time.Now().Add(time.Hour)}
	for _, at := range []string{"create", "write", "sync", "rename", "sync folder"} {
		d := openDir(t)
		other, err := OpenDir(d.path)
		if err != nil {
			t.Fatal(err)
		}
		d.hook = func(step string) error {
			if step != at {
				return nil
			}
			if _, err := other.Begin(e); err != nil {
				t.Error(err)
			}
			return syscall.ENOSPC
		}
		if _, err := d.Begin(e); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: %v", at, err)
		}
		if all, err := other.Entries(); len(all) != 1 || err != nil {
			t.Errorf("%s: the other's entry is gone: %+v, %v", at, all, err)
		}
	}
}

// TestDamaged: files that are no entries are told of by their names; the others are read, and the damaged ones stay.
func TestDamaged(t *testing.T) {
	d := openDir(t)
	tr, _ := withJournal(t, d, true, step{status: 503})
	if _, _, err := tr.Do(post(t, "http://server/", "order").WithContext(WithKey(t.Context(), "good"))); !errors.Is(err, ErrOutcomeUnknown) {
		t.Fatal(err)
	}
	good, err := os.ReadFile(filepath.Join(d.path, nameOf("good")))
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, text []byte) {
		if err := os.WriteFile(filepath.Join(d.path, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	flipped := []byte(strings.Replace(string(good), "server", "sarver", 1))
	bad := map[string]error{}
	for key, c := range map[string]struct {
		text []byte
		want error
	}{
		"empty": {nil, errDamaged}, "torn": {good[:len(good)/2], errDamaged}, "flipped": {flipped, errDamaged}, "zeros": {make([]byte, 4096), errForeign},
		"newer": {[]byte("idempotent operation v2 x\n{}"), errNewer}, "copied": {good, errMisnamed}, "foreign": {[]byte("hello\n"), errForeign},
	} {
		write(nameOf(key), c.text)
		bad[nameOf(key)] = c.want
	}
	write("notes.txt", []byte("hello"))
	bad["notes.txt"] = errForeign
	write(".hidden", nil)
	if err := syscall.Mkfifo(filepath.Join(d.path, nameOf("pipe")), 0o600); err != nil {
		t.Fatal(err)
	}
	bad[nameOf("pipe")] = errForeign
	if err := os.Mkdir(filepath.Join(d.path, nameOf("folder")), 0o700); err != nil {
		t.Fatal(err)
	}
	bad[nameOf("folder")] = errForeign
	live, _, err := tr.Unfinished()
	if len(live) != 1 || live[0].Key != "good" || err == nil {
		t.Fatalf("%+v, %v", live, err)
	}
	for name, want := range bad {
		if !strings.Contains(err.Error(), filepath.Join(d.path, name)+": "+want.Error()) {
			t.Errorf("%s is not told of as %v:\n%v", name, want, err)
		}
		if _, err := os.Lstat(filepath.Join(d.path, name)); err != nil {
			t.Error(err)
		}
	}
	// A key whose entry is damaged may have an unfinished operation.
	if _, _, err := tr.Do(post(t, "http://server/", "order").WithContext(WithKey(t.Context(), "torn"))); !errors.Is(err, errDamaged) {
		t.Error(err)
	}
}

// TestOpenDir: what a crash left half-written is removed once nobody can be writing it.
func TestOpenDir(t *testing.T) {
	path := t.TempDir()
	for name, age := range map[string]time.Duration{tempPrefix + "old": 2 * time.Hour, tempPrefix + "young": 0} {
		if err := os.WriteFile(filepath.Join(path, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(filepath.Join(path, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := OpenDir(path); err != nil {
		t.Fatal(err)
	}
	left, _ := filepath.Glob(path + "/.*")
	if len(left) != 1 || !strings.HasSuffix(left[0], "young") {
		t.Errorf("left %v", left)
	}
	if _, err := OpenDir(filepath.Join(path, tempPrefix+"young")); err == nil {
		t.Error("a file is taken for a folder")
	}
}

// TestSharedJournal: many operations at once, and some with one key.
func TestSharedJournal(t *testing.T) {
	d := openDir(t)
	tr := newTransport(t, quick(func(c *Config) {
		c.Journal = d
		c.Base = roundTripper(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 201, Body: http.NoBody}, nil
		})
	}))
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			key := fmt.Sprint("key-", i%20)
			if _, _, err := tr.Do(post(t, "http://server/", key).WithContext(WithKey(context.Background(), key))); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	all, err := d.Entries()
	if len(all) != 20 || err != nil {
		t.Errorf("%d entries, %v", len(all), err)
	}
	for _, e := range all {
		if e.Status != 201 {
			t.Errorf("%+v", e)
		}
	}
}

func TestNoJournal(t *testing.T) {
	if _, _, err := newTransport(t, Config{}).Unfinished(); err == nil {
		t.Error("there is no journal")
	}
}
