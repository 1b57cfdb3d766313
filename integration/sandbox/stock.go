package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// stockTable is the logical id of the table that the sandbox puts products into.
const stockTable = "StockTable"

// products are what can be ordered in a sandbox, with the stock that there is at first.
var products = []struct {
	sku          string
	price, stock string
}{
	{"book", "1299", "1000"},
	{"rare", "9900", "1"},
}

// stock is the template's table of products; nil where it has none.
type stock struct {
	client *dynamodb.Client
	table  string
}

// openStock finds the table and puts the products into it that are not there yet.
func openStock(ctx context.Context, to services, tables []table) (*stock, error) {
	i := slices.IndexFunc(tables, func(t table) bool { return t.id == stockTable })
	if i < 0 {
		return nil, nil
	}
	client, err := databaseClient(ctx, to.region, to.database, to.realCredentials)
	if err != nil {
		return nil, err
	}
	s := &stock{client: client, table: tables[i].name}
	for _, p := range products {
		err := s.put(ctx, map[string]types.AttributeValue{
			"sku":      &types.AttributeValueMemberS{Value: p.sku},
			"price":    &types.AttributeValueMemberN{Value: p.price},
			"currency": &types.AttributeValueMemberS{Value: "EUR"},
			"stock":    &types.AttributeValueMemberN{Value: p.stock},
		})
		if err != nil {
			return nil, fmt.Errorf("put product %s into table %s: %w", p.sku, s.table, err)
		}
	}
	return s, nil
}

func (s *stock) put(ctx context.Context, item map[string]types.AttributeValue) error {
	_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &s.table, Item: item,
		ConditionExpression: aws.String("attribute_not_exists(sku)")})
	var there *types.ConditionalCheckFailedException
	if errors.As(err, &there) {
		return nil
	}
	return err
}

// of reads the stock of a product; "" where there is no such product. No function makes this call: so the statistics can
// leave it out.
func (s *stock) of(ctx context.Context, sku string) (json.Number, error) {
	out, err := s.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
		s.table: {ConsistentRead: aws.Bool(true), Keys: []map[string]types.AttributeValue{{"sku": &types.AttributeValueMemberS{Value: sku}}}}}})
	if err != nil || len(out.Responses[s.table]) == 0 {
		return "", err
	}
	n, ok := out.Responses[s.table][0]["stock"].(*types.AttributeValueMemberN)
	if !ok {
		return "", fmt.Errorf("the product has no number in stock")
	}
	return json.Number(n.Value), nil
}

// stockOf tells how many pieces nobody has reserved: GET /_sandbox/stock?sku=book.
func (c *control) stockOf(w http.ResponseWriter, r *http.Request) {
	sku := r.URL.Query().Get("sku")
	if c.stock == nil || sku == "" {
		controlError(w, http.StatusBadRequest, "a sku is needed, and a template with the table "+stockTable)
		return
	}
	n, err := c.stock.of(r.Context(), sku)
	switch {
	case err != nil:
		controlError(w, http.StatusInternalServerError, err.Error())
	case n == "":
		controlError(w, http.StatusNotFound, fmt.Sprintf("there is no product %q", sku))
	default:
		writeJSON(w, http.StatusOK, struct {
			SKU   string      `json:"sku"`
			Stock json.Number `json:"stock"`
		}{sku, n})
	}
}
