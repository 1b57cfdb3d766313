package dynamofake

import (
	"bytes"
	"context"
	"errors"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
)

// post sends a request over a socket.
func post(t *testing.T, url, target, body string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Amz-Target", target)
	out, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Body.Close()
	text, err := io.ReadAll(out.Body)
	if err != nil {
		t.Fatal(err)
	}
	return out, string(text)
}

func TestProtocol(t *testing.T) {
	s := open(t, Options{})
	web := httptest.NewServer(s)
	defer web.Close()
	for _, c := range []struct {
		target, body string
		status       int
		want         string
	}{
		{"DynamoDB_20120810.ListTables", `{}`, 200, `{"TableNames":[]}`},
		{"DynamoDBStreams_20120810.ListStreams", `{}`, 200, `{"Streams":[]}`},
		{"DynamoDB_20120810.ExecuteStatement", `{}`, 400, `{"__type":"com.amazon.coral.service#UnknownOperationException"}`},
		{"DynamoDB_20120810.ListStreams", `{}`, 400, `{"__type":"com.amazon.coral.service#UnknownOperationException"}`},
		{"ListTables", `{}`, 400, `{"__type":"com.amazon.coral.service#UnknownOperationException"}`},
		{"", `{}`, 400, `{"__type":"com.amazon.coral.service#UnknownOperationException"}`},
		{"DynamoDB_20120810.GetItem", ``, 400, `{"__type":"com.amazon.coral.service#SerializationException"}`},
		{"DynamoDB_20120810.GetItem", `[]`, 400, `{"__type":"com.amazon.coral.service#SerializationException","Message":"Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>"}`},
		{"DynamoDB_20120810.GetItem", `{"TableName":"tab"} x`, 400, `{"__type":"com.amazon.coral.service#SerializationException"}`},
		{"DynamoDB_20120810.GetItem", `{"TableName":5}`, 400, `{"__type":"com.amazon.coral.service#SerializationException","Message":"NUMBER_VALUE cannot be converted to String"}`},
	} {
		r, text := post(t, web.URL, c.target, c.body)
		if r.StatusCode != c.status {
			t.Errorf("%s: status %d, want %d", c.target, r.StatusCode, c.status)
		}
		equal(t, c.target+" "+c.body, text, c.want)
		equal(t, "checksum", r.Header.Get("X-Amz-Crc32"), strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(text))), 10))
		if id := r.Header.Get("X-Amzn-Requestid"); len(id) != 52 {
			t.Errorf("request id %q", id)
		}
	}
}

func TestWhatIsNoCall(t *testing.T) {
	s := open(t, Options{})
	for _, c := range []struct {
		method string
		body   io.Reader
		status int
	}{
		{http.MethodGet, nil, http.StatusOK},
		{http.MethodPut, nil, http.StatusNotFound},
		{http.MethodPost, bytes.NewReader(make([]byte, maxBody+1)), http.StatusRequestEntityTooLarge},
	} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(c.method, "/", c.body))
		if w.Code != c.status {
			t.Errorf("%s: status %d, want %d", c.method, w.Code, c.status)
		}
	}
}

// A lost acknowledgement is a connection that ends, after the write.
func TestDroppedAnswerOverSocket(t *testing.T) {
	s := open(t, Options{})
	web := httptest.NewServer(s)
	defer web.Close()
	createTable(t, s, "tab", "")
	if err := s.Inject(Fault{Op: "PutItem", Kind: FaultDropAck}); err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequest(http.MethodPost, web.URL, strings.NewReader(`{"TableName":"tab","Item":{"pk":{"S":"a"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810.PutItem")
	out, err := http.DefaultClient.Do(r)
	if err == nil {
		out.Body.Close()
		t.Fatalf("an answer came: %d", out.StatusCode)
	}
	if !errors.Is(err, io.EOF) {
		t.Errorf("got %v, want the end of the connection", err)
	}
	equal(t, "item", getItem(t, s, "tab", "a"), `{"pk":{"S":"a"}}`)
}

// A delayed write lands though the caller has gone, and Close does not wait
// for the delay.
func TestDelayedWriteLands(t *testing.T) {
	s, err := Open(Options{})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s)
	defer web.Close()
	createTable(t, s, "tab", "")
	if err := s.Inject(Fault{Op: "PutItem", Kind: FaultDelay, Delay: time.Hour}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, web.URL, strings.NewReader(`{"TableName":"tab","Item":{"pk":{"S":"a"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810.PutItem")
	gone := make(chan error, 1)
	go func() {
		out, err := http.DefaultClient.Do(r)
		if err == nil {
			err = out.Body.Close()
		}
		gone <- err
	}()
	for s.Stats().Calls["PutItem"] == 0 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller got %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s.tables["tab"].items.Len() != 1 {
		t.Error("the delayed write did not land")
	}
	if got := string(s.call("DynamoDB_20120810.ListTables", []byte(`{}`)).body); !strings.Contains(got, "the server is closed") {
		t.Errorf("a call on a closed server: %s", got)
	}
}
