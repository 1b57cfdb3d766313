package sandbox

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/integration/dynamofake"
)

func TestStock(t *testing.T) {
	fake, client := dynamofake.Start(t)
	server := httptest.NewServer(fake)
	defer server.Close()
	tables := []table{{id: "Other"}, {id: stockTable, name: "products",
		attrs: []types.AttributeDefinition{{AttributeName: aws.String("sku"), AttributeType: types.ScalarAttributeTypeS}},
		keys:  []types.KeySchemaElement{{AttributeName: aws.String("sku"), KeyType: types.KeyTypeHash}}}}
	if err := createTables(t.Context(), client, nil, tables[1:]); err != nil {
		t.Fatal(err)
	}
	c := &control{}
	open := func() {
		t.Helper()
		var err error
		if c.stock, err = openStock(t.Context(), services{region: localRegion, database: server.URL}, tables); err != nil {
			t.Fatal(err)
		}
	}
	want := func(query string, status int, body string) {
		t.Helper()
		w := httptest.NewRecorder()
		c.handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/_sandbox/stock"+query, nil))
		if w.Code != status || !strings.Contains(w.Body.String(), body) {
			t.Errorf("%s: %d %s, want %d %s", query, w.Code, w.Body, status, body)
		}
	}
	want("?sku=book", 400, stockTable) // a template without the table
	open()
	want("?sku=book", 200, `{"sku":"book","stock":1000}`)
	want("?sku=rare", 200, `{"sku":"rare","stock":1}`)
	want("?sku=unicorn", 404, `unicorn`)
	want("", 400, "a sku is needed")
	if _, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: aws.String("products"),
		Key: map[string]types.AttributeValue{"sku": &types.AttributeValueMemberS{Value: "rare"}}, UpdateExpression: aws.String("SET stock = :none"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":none": &types.AttributeValueMemberN{Value: "0"}}}); err != nil {
		t.Fatal(err)
	}
	open() // started again on the same data: what was ordered stays ordered
	want("?sku=rare", 200, `{"sku":"rare","stock":0}`)
}

// A template without the table has no stock, and no product to put anywhere.
func TestNoStock(t *testing.T) {
	if s, err := openStock(t.Context(), services{}, []table{{id: "Other"}}); s != nil || err != nil {
		t.Errorf("%+v, %v", s, err)
	}
}
