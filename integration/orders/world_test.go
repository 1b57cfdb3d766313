package orders

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/integration/sandbox"
)

// soldOut is a product of which there is nothing.
const soldOut = "sold-out"

// initial is the stock that the sandbox begins with.
var initial = map[string]int{"book": 1000, soldOut: 0}

// world is a sandbox and what is in it.
type world struct {
	t      *testing.T
	url    string
	token  string
	http   *http.Client
	tables *dynamodb.Client
}

func newWorld(t *testing.T, s *sandbox.Sandbox) *world {
	t.Helper()
	token, err := s.Token("acme", "alice")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, url: s.URL(), token: token, tables: dynamodb.NewFromConfig(s.Database().Config()),
		http: &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}}
	if _, err := w.tables.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("sandbox-StockTable"),
		Item: map[string]types.AttributeValue{
			"sku": &types.AttributeValueMemberS{Value: soldOut}, "price": &types.AttributeValueMemberN{Value: "100"},
			"currency": &types.AttributeValueMemberS{Value: "EUR"}, "stock": &types.AttributeValueMemberN{Value: "0"},
		}}); err != nil {
		t.Fatal(err)
	}
	return w
}

// answer is what a client is told, but for the header that tells a replay.
type answer struct {
	status   int
	code     string // of a problem document
	location string
	body     string
	replayed bool
}

// post sends a trial's order.
func (w *world) post(one *trial) answer {
	w.t.Helper()
	body := fmt.Sprintf(`{"sku":%q,"quantity":2,"source":%q,"reference":%q}`, one.sku, one.source, one.name)
	return w.call(http.MethodPost, "/orders", strconv.Quote(one.name), body)
}

func (w *world) call(method, path, key, body string) answer {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	req.GetBody = nil // net/http would send a keyed request again by itself
	req.Header.Set("Authorization", "Bearer "+w.token)
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	res, err := w.http.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	a := answer{status: res.StatusCode, location: res.Header.Get("Location"), body: string(text),
		replayed: res.Header.Get("Idempotent-Replayed") == "true"}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "application/problem+json") {
		var doc struct{ Code string }
		if err := json.Unmarshal(text, &doc); err != nil {
			w.t.Fatal(err)
		}
		a.code = doc.Code
	}
	return a
}

// control reads a control route of the sandbox.
func (w *world) control(method, path string, into any) {
	w.t.Helper()
	a := w.call(method, "/_sandbox/"+path, "", "")
	if err := json.Unmarshal([]byte(a.body), into); err != nil || a.status != http.StatusOK {
		w.t.Fatalf("%s: %+v, %v", path, a, err)
	}
}

func (w *world) killOrders() {
	var killed struct{ Killed int }
	w.control(http.MethodPost, "kill?function=OrdersFunction", &killed)
	if killed.Killed == 0 {
		w.t.Error("there was no process to kill")
	}
}

// addUp checks that no piece is missing and none is there twice: what is in stock and what orders hold, reserved or
// confirmed, is what there was.
func (w *world) addUp(when string) {
	w.t.Helper()
	pieces := map[string]int{}
	for table, attribute := range map[string]string{"sandbox-StockTable": "stock", "sandbox-OrdersTable": "quantity"} {
		pages := dynamodb.NewScanPaginator(w.tables, &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)})
		for pages.HasMorePages() {
			page, err := pages.NextPage(w.t.Context())
			if err != nil {
				w.t.Fatal(err)
			}
			for _, item := range page.Items {
				n, err := strconv.Atoi(item[attribute].(*types.AttributeValueMemberN).Value)
				if err != nil || n < 0 {
					w.t.Errorf("%s: %s of an item in %s is %d (%v)", when, attribute, table, n, err)
				}
				pieces[item["sku"].(*types.AttributeValueMemberS).Value] += n
			}
		}
	}
	for sku, n := range initial {
		if pieces[sku] != n {
			w.t.Errorf("%s: %d pieces of %s, want %d", when, pieces[sku], sku, n)
		}
	}
}
