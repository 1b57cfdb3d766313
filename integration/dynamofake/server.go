package dynamofake

import (
	"bytes"
	"errors"
	"hash/crc32"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxBody is the limit of a request: that of a batch, the largest (API
// reference, BatchWriteItem).
const maxBody = 16 << 20

// answer is what a call ends with.
type answer struct {
	status int
	body   []byte
	// dropped: the call was done, but nobody learns of it.
	dropped bool
}

// ServeHTTP answers one call of the DynamoDB or DynamoDB Streams JSON protocol.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		health(w, r)
		return
	}
	var body bytes.Buffer
	if r.ContentLength > 0 && r.ContentLength <= maxBody {
		body.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	if _, err := body.ReadFrom(io.LimitReader(r.Body, maxBody+1)); err != nil {
		return // the caller has gone before it said what it wants
	}
	if body.Len() > maxBody {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	a := s.call(r.Header.Get("X-Amz-Target"), body.Bytes())
	if a.dropped {
		panic(http.ErrAbortHandler)
	}
	a.writeTo(w)
}

func (a answer) writeTo(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.header())
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // a caller that has gone is not our error
}

// header has the checksum that the SDK compares with the body.
func (a answer) header() http.Header {
	return http.Header{
		"Content-Type":     {"application/x-amz-json-1.0"},
		"Content-Length":   {strconv.Itoa(len(a.body))},
		"X-Amz-Crc32":      {strconv.FormatUint(uint64(crc32.ChecksumIEEE(a.body)), 10)},
		"X-Amzn-Requestid": {requestID()},
	}
}

// health answers what is no call, as the service does.
func health(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		http.Error(w, "<UnknownOperationException/>", http.StatusNotFound)
		return
	}
	_, _ = io.WriteString(w, "healthy: dynamofake")
}

// call does one call: count it, see what the faults say, do it, and put the
// outcome into words.
func (s *Server) call(target string, body []byte) answer {
	service, name, _ := strings.Cut(target, ".")
	op := operations[name]
	if op == nil || service != op.service {
		return failure(fail(codeUnknownOperation, ""))
	}
	if !s.begin() {
		return failure(internal(errors.New("the server is closed")))
	}
	defer s.calls.Done()
	s.stats.called(name)
	perform, tables, err := op.decode(body)
	if err != nil {
		return failure(err)
	}
	e := s.faults.take(name, tables)
	if e.err != nil {
		return failure(e.err)
	}
	s.pause(e.delay)
	var out writer
	out.out = make([]byte, 0, 512)
	err = perform(s, &out)
	if err == nil {
		err = s.compactIfDue()
	}
	a := answer{status: http.StatusOK, body: out.out}
	if err != nil {
		a = failure(err)
	}
	a.dropped = e.drop
	return a
}

// begin registers a call, unless the server is closing.
func (s *Server) begin() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return false
	}
	s.calls.Add(1)
	return true
}

// pause waits, but not for longer than the server is open.
func (s *Server) pause(d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.closing:
	}
}

// failure is the answer for an error. An error of another type is a mistake in
// this server, and reads so.
func failure(err error) answer {
	var e *apiError
	if !errors.As(err, &e) {
		errors.As(internal(err), &e)
	}
	var w writer
	w.open('{')
	w.field("__type")
	w.str(e.code)
	if e.message != "" {
		w.field(e.messageField())
		w.str(e.message)
	}
	if e.item != nil {
		w.field("Item")
		w.item(e.item)
	}
	if e.reasons != nil {
		w.field("CancellationReasons")
		w.reasons(e.reasons)
	}
	w.close('}')
	return answer{status: e.httpStatus(), body: w.out}
}
