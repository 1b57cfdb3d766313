package dynamofake

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// picture is all that a server knows, as text.
func picture(s *Server) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s.tables)) {
		t := s.tables[name]
		fmt.Fprintf(&b, "table %s %+v %d bytes, ttl %q\n", name, t.def.KeySchema, t.bytes, t.ttl.attribute)
		t.items.Scan(func(_ string, r *record) bool {
			fmt.Fprintf(&b, " %s due %d\n", wire(r.item), r.due)
			return true
		})
		for _, x := range t.indexes {
			fmt.Fprintf(&b, " index %s %d entries\n", x.name, x.entries.Len())
		}
	}
	for _, arn := range slices.Sorted(maps.Keys(s.streams)) {
		st := s.streams[arn]
		fmt.Fprintf(&b, "stream %s next %d ended %v\n", arn, st.next, !st.ended.IsZero())
		for _, r := range st.records {
			fmt.Fprintf(&b, " %d %s %s %s %v %d\n", r.number, r.event(), wire(r.before), wire(r.after), r.byTTL, r.at.UnixMilli())
		}
	}
	for _, use := range s.tokens.expiring {
		fmt.Fprintf(&b, "token %s %x %d\n", use.token, use.request, use.at.UnixMilli())
	}
	return b.String()
}

// history does something of everything that is kept.
func history(t *testing.T, s *Server, c *clock) {
	t.Helper()
	createTable(t, s, "tab", `+{"AttributeName":"g","AttributeType":"S"};"GlobalSecondaryIndexes":[{"IndexName":"gsi","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}],`+streamOn)
	createTable(t, s, "gone", streamOn)
	createTable(t, s, "other", "")
	mustCall(t, s, "UpdateTimeToLive", enableTTL)
	put(t, s, "gone", "x", "")
	mustCall(t, s, "DeleteTable", `{"TableName":"gone"}`)
	put(t, s, "tab", "a", `"g":{"S":"g"},"n":{"N":"-1.5"},"l":{"L":[{"NULL":true},{"M":{"b":{"B":"AQID"}}}]},"s":{"NS":["1","2"]},"t":{"BOOL":true}`)
	put(t, s, "tab", "b", "")
	put(t, s, "tab", "dies", expiresAt(c.Now()))
	put(t, s, "tab", "lives", expiresAt(c.Now().Add(time.Hour)))
	c.Advance(time.Minute)
	mustCall(t, s, "DeleteItem", `{"TableName":"tab","Key":{"pk":{"S":"b"}}}`)
	mustCall(t, s, "TransactWriteItems", `{"ClientRequestToken":"token","TransactItems":[{"Put":{"TableName":"tab","Item":{"pk":{"S":"c"}}}},{"Put":{"TableName":"other","Item":{"pk":{"S":"c"}}}}]}`)
	mustCall(t, s, "TagResource", `{"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/other","Tags":[{"Key":"k","Value":"v"}]}`)
}

func TestReopen(t *testing.T) {
	dir, c := t.TempDir(), newClock()
	s := open(t, Options{Dir: dir, Now: c.Now})
	history(t, s, c)
	want := picture(s)
	if !strings.Contains(want, "token token") || !strings.Contains(want, "REMOVE {\"e\"") {
		t.Fatalf("the history lacks something:\n%s", want)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, Options{Dir: dir, Now: c.Now})
	equal(t, "after the restart", picture(again), want)
	equal(t, "the token", mustCall(t, again, "TransactWriteItems", `{"ClientRequestToken":"token","TransactItems":[{"Put":{"TableName":"tab","Item":{"pk":{"S":"c"}}}},{"Put":{"TableName":"other","Item":{"pk":{"S":"c"}}}}]}`), `{}`)
	equal(t, "the tag", mustCall(t, again, "ListTagsOfResource", `{"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/other"}`), `{"Tags":[{"Key":"k","Value":"v"}]}`)
	equal(t, "what is new is kept too", mustCall(t, again, "PutItem", `{"TableName":"tab","Item":{"pk":{"S":"new"}}}`), `{}`)
	want = picture(again)
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	equal(t, "after another restart", picture(open(t, Options{Dir: dir, Now: c.Now})), want)
}

// A compacted log leads to the same data.
func TestCompaction(t *testing.T) {
	dir, c := t.TempDir(), newClock()
	s := open(t, Options{Dir: dir, Now: c.Now})
	history(t, s, c)
	for i := range 200 {
		put(t, s, "other", "c", fmt.Sprintf(`"v":{"N":"%d"}`, i))
	}
	before, want := s.log.size(), picture(s)
	s.compactAt.Store(1)
	put(t, s, "other", "c", `"v":{"N":"199"}`) // a call that finds it due
	if after := s.log.size(); after >= before/2 {
		t.Errorf("the log had %d bytes and has %d", before, after)
	}
	equal(t, "after compacting", picture(s), want)
	put(t, s, "other", "d", "")
	want = picture(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	equal(t, "after the restart", picture(open(t, Options{Dir: dir, Now: c.Now})), want)
}

// Calls that run while the log is compacted lose nothing.
func TestCompactionUnderLoad(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	createTable(t, s, "tab", "")
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 50 {
				if i%10 == 0 {
					s.compactAt.Store(1)
				}
				put(t, s, "tab", fmt.Sprintf("%d-%d", g, i), "")
			}
		})
	}
	wg.Wait()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := open(t, Options{Dir: dir}).tables["tab"].items.Len(); n != 400 {
		t.Errorf("%d items, want 400", n)
	}
}

// TestCutLog cuts the log at every byte of its last frame: what was
// acknowledged before it is there, and the server writes on.
func TestCutLog(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	createTable(t, s, "tab", "")
	put(t, s, "tab", "first", `"v":{"N":"1"}`)
	before := s.log.size()
	mustCall(t, s, "TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"tab","Item":{"pk":{"S":"last"},"v":{"S":"value"}}}},{"Delete":{"TableName":"tab","Key":{"pk":{"S":"first"}}}}]}`)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(filepath.Join(dir, logName))
	if err != nil {
		t.Fatal(err)
	}
	for end := before; end < int64(len(whole)); end++ {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, logName), whole[:end], 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := Open(Options{Dir: dir})
		if err != nil {
			t.Fatalf("cut at %d of %d: %v", end, len(whole), err)
		}
		equal(t, "first", getItem(t, s, "tab", "first"), `{"pk":{"S":"first"},"v":{"N":"1"}}`)
		equal(t, "last", getItem(t, s, "tab", "last"), "")
		put(t, s, "tab", "next", "")
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, Options{Dir: dir})
		equal(t, "next", getItem(t, s, "tab", "next"), `{"pk":{"S":"next"}}`)
	}
}

// TestBadLog changes each byte of the last frame, which is then dropped, and
// of one before it, which is refused: nothing acknowledged is lost in silence.
func TestBadLog(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	createTable(t, s, "tab", "")
	first := s.log.size()
	put(t, s, "tab", "first", "")
	last := s.log.size()
	put(t, s, "tab", "last", "")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(filepath.Join(dir, logName))
	if err != nil {
		t.Fatal(err)
	}
	reopen := func(at int64) (*Server, error) {
		dir := t.TempDir()
		bad := slices.Clone(whole)
		bad[at] ^= 0x40
		if err := os.WriteFile(filepath.Join(dir, logName), bad, 0o644); err != nil {
			t.Fatal(err)
		}
		return Open(Options{Dir: dir})
	}
	for at := last; at < int64(len(whole)); at++ {
		s, err := reopen(at)
		if err != nil {
			t.Fatalf("byte %d: %v", at, err)
		}
		equal(t, "first", getItem(t, s, "tab", "first"), `{"pk":{"S":"first"}}`)
		equal(t, "last", getItem(t, s, "tab", "last"), "")
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for at := first + 4; at < last; at++ { // a wrong length hides what follows
		s, err := reopen(at)
		if err == nil {
			s.Close()
			t.Fatalf("byte %d: not refused", at)
		}
		want := fmt.Sprintf("damaged at byte %d; restore the file from a copy, or remove it to start empty", first)
		if !strings.HasSuffix(err.Error(), want) {
			t.Fatalf("byte %d: %v", at, err)
		}
	}
}

func TestOpenRefused(t *testing.T) {
	dir := t.TempDir()
	open(t, Options{Dir: dir})
	if _, err := Open(Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "is in use by another server") {
		t.Errorf("a directory in use: %v", err)
	}
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, logName), []byte("something else"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Options{Dir: other}); err == nil || !strings.HasSuffix(err.Error(), "not a log of dynamofake; use another directory") {
		t.Errorf("another file: %v", err)
	}
	if _, err := Open(Options{Dir: filepath.Join(other, logName)}); err == nil {
		t.Error("a file as directory: not refused")
	}
}

// When the log cannot be written, nothing is acknowledged any more.
func TestBrokenLog(t *testing.T) {
	s, err := Open(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	createTable(t, s, "tab", "")
	if err := s.log.file.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ op, body string }{
		{"PutItem", `{"TableName":"tab","Item":{"pk":{"S":"a"}}}`},
		{"GetItem", `{"TableName":"tab","Key":{"pk":{"S":"a"}}}`}, // it would show what is not on the disk
		{"PutItem", `{"TableName":"tab","Item":{"pk":{"S":"b"}}}`},
	} {
		if got := refused(t, s, c.op, c.body); !strings.HasPrefix(got, "InternalServerError: dynamofake: the log cannot be written") {
			t.Errorf("%s: %s", c.op, got)
		}
	}
	if err := s.Close(); err == nil || !strings.Contains(err.Error(), "the log cannot be written") {
		t.Errorf("Close says %v", err)
	}
}
