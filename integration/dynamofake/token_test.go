package dynamofake

import (
	"testing"
	"time"
)

const (
	tokenRequest = `{"ClientRequestToken":"token","TransactItems":[{"Update":{"TableName":"tab","Key":{"pk":{"S":"a"}},"UpdateExpression":"ADD #n :n SET m = :m","ExpressionAttributeNames":{"#n":"n"},"ExpressionAttributeValues":{":n":{"N":"1"},":m":{"M":{"a":{"N":"1"},"b":{"N":"2"}}}}}}]}`
	// the same in other bytes: members, names and values in another order
	tokenRespelt = `{"TransactItems":[{"Update":{"ExpressionAttributeValues":{":m":{"M":{"b":{"N":"2.0"},"a":{"N":"1"}}},":n":{"N":"1e0"}},"ExpressionAttributeNames":{"#n":"n"},"UpdateExpression":"ADD #n :n SET m = :m","Key":{"pk":{"S":"a"}},"TableName":"tab"}}],"ClientRequestToken":"token"}`
	tokenOther   = `{"ClientRequestToken":"token","TransactItems":[{"Update":{"TableName":"tab","Key":{"pk":{"S":"b"}},"UpdateExpression":"REMOVE n"}}]}`
	mismatch     = "IdempotentParameterMismatchException: DynamoDB rejected the request because you retried a request with a different payload but with an idempotent token that was already used."
)

func TestTokens(t *testing.T) {
	for name, bytes := range map[string]bool{"compared by meaning": false, "compared by bytes": true} {
		t.Run(name, func(t *testing.T) {
			c := newClock()
			s := open(t, Options{Now: c.Now, TokensCompareBytes: bytes})
			createTable(t, s, "tab", "")
			mustCall(t, s, "TransactWriteItems", tokenRequest)
			c.Advance(tokenLife - time.Second)
			equal(t, "again", mustCall(t, s, "TransactWriteItems", tokenRequest), `{}`)
			equal(t, "another request", refused(t, s, "TransactWriteItems", tokenOther), mismatch)
			if bytes {
				equal(t, "in other bytes", refused(t, s, "TransactWriteItems", tokenRespelt), mismatch)
			} else {
				equal(t, "in other bytes", mustCall(t, s, "TransactWriteItems", tokenRespelt), `{}`)
			}
			equal(t, "item", getItem(t, s, "tab", "a"), `{"m":{"M":{"a":{"N":"1"},"b":{"N":"2"}}},"n":{"N":"1"},"pk":{"S":"a"}}`)

			c.Advance(time.Second)
			mustCall(t, s, "TransactWriteItems", tokenRequest)
			equal(t, "after ten minutes", getItem(t, s, "tab", "a"), `{"m":{"M":{"a":{"N":"1"},"b":{"N":"2"}}},"n":{"N":"2"},"pk":{"S":"a"}}`)
		})
	}
}

// A repetition only confirms, and costs a transactional read.
func TestTokenCapacity(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "tab", "")
	const body = `{"ReturnConsumedCapacity":"TOTAL","ClientRequestToken":"token","TransactItems":[{"Put":{"TableName":"tab","Item":{"pk":{"S":"a"}}}}]}`
	equal(t, "first", mustCall(t, s, "TransactWriteItems", body), `{"ConsumedCapacity":[{"TableName":"tab","CapacityUnits":2,"WriteCapacityUnits":2}]}`)
	equal(t, "again", mustCall(t, s, "TransactWriteItems", body), `{"ConsumedCapacity":[{"TableName":"tab","CapacityUnits":2,"ReadCapacityUnits":2}]}`)
}

// A canceled transaction frees its token.
func TestTokenOfCanceled(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "tab", "")
	const body = `{"ClientRequestToken":"token","TransactItems":[{"Update":{"TableName":"tab","Key":{"pk":{"S":"a"}},"UpdateExpression":"SET v = :v","ConditionExpression":"attribute_exists(pk)","ExpressionAttributeValues":{":v":{"N":"1"}}}}]}`
	refused(t, s, "TransactWriteItems", body)
	put(t, s, "tab", "a", "")
	mustCall(t, s, "TransactWriteItems", body)
	equal(t, "item", getItem(t, s, "tab", "a"), `{"pk":{"S":"a"},"v":{"N":"1"}}`)
}
