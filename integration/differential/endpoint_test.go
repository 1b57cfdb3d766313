package differential

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// endpoint is a server that calls are sent to. Plain HTTP instead of an SDK, so that it can be sent what an SDK would
// not send.
type endpoint struct {
	name, url, streamsURL string
	client                *http.Client
	credentials           aws.CredentialsProvider
	region                string
}

// local is an endpoint that looks at no signature.
func local(name, url string) *endpoint {
	return &endpoint{
		name: name, url: url, streamsURL: url,
		client:      &http.Client{Timeout: time.Minute},
		credentials: credentials.NewStaticCredentialsProvider("differential", "differential", ""),
		region:      "us-east-1",
	}
}

var streamCalls = []string{"ListStreams", "DescribeStream", "GetShardIterator", "GetRecords"}

// send does one call.
func (e *endpoint) send(ctx context.Context, c call) (reply, error) {
	url, target := e.url, "DynamoDB_20120810."
	if slices.Contains(streamCalls, c.op) {
		url, target = e.streamsURL, "DynamoDBStreams_20120810."
	}
	body := c.bytes()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", target+c.op)
	if err := e.sign(ctx, r, body); err != nil {
		return reply{}, err
	}
	response, err := e.client.Do(r)
	if err != nil {
		return reply{}, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return reply{}, err
	}
	return newReply(c.op, response.StatusCode, answer), nil
}

func (e *endpoint) sign(ctx context.Context, r *http.Request, body []byte) error {
	who, err := e.credentials.Retrieve(ctx)
	if err != nil {
		return err
	}
	hash := sha256.Sum256(body)
	return v4.NewSigner().SignHTTP(ctx, who, r, hex.EncodeToString(hash[:]), "dynamodb", e.region, time.Now())
}

// do does a call of which all pages are read: what they have together is the answer.
func (e *endpoint) do(ctx context.Context, c call) (reply, error) {
	first, err := e.send(ctx, c)
	if err != nil || !paged(c) {
		return first, err
	}
	for page := first; page.ok() && page.body["LastEvaluatedKey"] != nil; {
		next := c.without("ExclusiveStartKey")
		next.body["ExclusiveStartKey"] = page.body["LastEvaluatedKey"]
		if page, err = e.send(ctx, next); err != nil {
			return reply{}, err
		}
		first.append(page)
	}
	first.endPages(c)
	return first, nil
}

// paged tells the calls of which all pages are compared as one: where to page is not the same for every server, as the
// order of partitions, and of equal keys in an index, is theirs.
func paged(c call) bool {
	return c.op == "Scan" || c.op == "Query" && c.body["IndexName"] != nil
}

// append adds a page to the answer.
func (r *reply) append(page reply) {
	if !page.ok() {
		*r = page
		return
	}
	r.capacity = nil // each page rounds up for itself
	for _, name := range []string{"Count", "ScannedCount"} {
		a, _ := r.body[name].(float64)
		b, _ := page.body[name].(float64)
		r.body[name] = a + b
	}
	if more, ok := page.body["Items"].(list); ok {
		items, _ := r.body["Items"].(list)
		r.body["Items"] = append(items, more...)
	}
}

// endPages takes out of the answer what depends on the order of items.
func (r *reply) endPages(c call) {
	delete(r.body, "LastEvaluatedKey")
	if c.body["Limit"] != nil {
		r.capacity = nil
	}
	if items, ok := r.body["Items"].(list); ok {
		sortByText(items)
	}
}

// must does a call that has to succeed.
func (e *endpoint) must(ctx context.Context, op string, body object) (reply, error) {
	r, err := e.do(ctx, call{op: op, body: body})
	if err == nil && !r.ok() {
		err = fmt.Errorf("%s: %s: %v", e.name, strings.TrimSpace(call{op: op, body: body}.String()), r)
	}
	return r, err
}
