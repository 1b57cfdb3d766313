package dynamofake

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// The benchmarks measure one call inside the server, without HTTP: reading the
// request, doing it, writing the answer.
//
//	go test -bench . -benchmem ./integration/dynamofake

// benchServer is a server with a table "bench" of items k0, k1, … k999.
func benchServer(b *testing.B, o Options) *Server {
	b.Helper()
	s := open(b, o)
	createTable(b, s, "bench", "")
	for i := range 1000 {
		mustCall(b, s, "PutItem", putBody(i))
	}
	return s
}

// mustCall does one call and wants it to succeed.
func mustCall(tb testing.TB, s *Server, op, body string) string {
	tb.Helper()
	a := s.call(serviceOf(op)+"."+op, []byte(body))
	if a.status != http.StatusOK {
		tb.Fatalf("%s: %d %s", op, a.status, a.body)
	}
	return string(a.body)
}

var benchBlob = strings.Repeat("BwcH", 171)

func putBody(i int) string {
	return `{"TableName":"bench","Item":{"pk":{"S":"k` + strconv.Itoa(i) + `"},"s":{"S":"PROCESSING"},"lease_until":{"N":"1"},"expires_at":{"N":"2"},"b":{"B":"` + benchBlob + `"}},
		"ConditionExpression":"attribute_not_exists(pk) OR expires_at < :now OR (#s = :processing AND lease_until < :now)",
		"ExpressionAttributeNames":{"#s":"s"},"ExpressionAttributeValues":{":now":{"N":"100"},":processing":{"S":"PROCESSING"}},
		"ReturnValuesOnConditionCheckFailure":"ALL_OLD"}`
}

// benchCalls runs a call in parallel with a body made from a counter.
func benchCalls(b *testing.B, s *Server, op string, body func(int) string) {
	b.Helper()
	var n atomic.Int64
	b.SetParallelism(16)
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			a := s.call(serviceDynamo+"."+op, []byte(body(int(n.Add(1)))))
			if a.status != http.StatusOK {
				b.Errorf("%s: %s", op, a.body)
				return
			}
		}
	})
}

func BenchmarkConditionalPut(b *testing.B) {
	benchCalls(b, benchServer(b, Options{}), "PutItem", func(i int) string { return putBody(1000 + i) })
}

func BenchmarkConditionalPutDurable(b *testing.B) {
	benchCalls(b, benchServer(b, Options{Dir: b.TempDir()}), "PutItem", func(i int) string { return putBody(1000 + i) })
}

func BenchmarkGet(b *testing.B) {
	benchCalls(b, benchServer(b, Options{}), "GetItem", func(i int) string {
		return fmt.Sprintf(`{"TableName":"bench","Key":{"pk":{"S":"k%d"}},"ConsistentRead":true}`, i%1000)
	})
}

func BenchmarkConditionalUpdate(b *testing.B) {
	benchCalls(b, benchServer(b, Options{}), "UpdateItem", func(i int) string {
		return fmt.Sprintf(`{"TableName":"bench","Key":{"pk":{"S":"k%d"}},"UpdateExpression":"SET #s = :d","ConditionExpression":"attribute_exists(pk)",
			"ExpressionAttributeNames":{"#s":"s"},"ExpressionAttributeValues":{":d":{"S":"COMPLETED"}}}`, i%1000)
	})
}

func BenchmarkTransactPutUpdate(b *testing.B) {
	benchCalls(b, benchServer(b, Options{}), "TransactWriteItems", func(i int) string {
		return fmt.Sprintf(`{"ClientRequestToken":"00000000-0000-0000-0000-%012d","TransactItems":[{"Put":{"TableName":"bench","Item":{"pk":{"S":"t%d"}},"ConditionExpression":"attribute_not_exists(pk)"}},
			{"Update":{"TableName":"bench","Key":{"pk":{"S":"u%d"}},"UpdateExpression":"ADD n :one","ExpressionAttributeValues":{":one":{"N":"1"}}}}]}`, i, i, i)
	})
}

func BenchmarkQuery(b *testing.B) {
	benchCalls(b, benchServer(b, Options{}), "Query", func(i int) string {
		return fmt.Sprintf(`{"TableName":"bench","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"k%d"}}}`, i%1000)
	})
}

// BenchmarkOpen is the start of a server that keeps its data, with a log of a
// thousand items.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	s := benchServer(b, Options{Dir: dir})
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		s, err := Open(Options{Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
