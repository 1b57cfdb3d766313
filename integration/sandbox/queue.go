package sandbox

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"
)

const (
	queuesFile = "queues.jsonl"
	maxMessage = 1 << 20 // bytes of a message
)

// queues is as much of Amazon SQS as a dead-letter queue needs: SendMessage. It keeps what was sent.
type queues struct {
	region   string
	names    []string // the template's
	messages *journal[message]
}

// message is a message as the sandbox lists it. The body is text for SQS; what is JSON is shown as such.
type message struct {
	Queue  string          `json:"queue"`
	ID     string          `json:"id"`
	SentAt string          `json:"sent_at"` // RFC 3339
	Body   json.RawMessage `json:"body"`
}

func queueURL(region, name string) string {
	return fmt.Sprintf("https://sqs.%s.amazonaws.com/%s/%s", region, localAccount, name)
}

func queueARN(region, name string) string {
	return fmt.Sprintf("arn:aws:sqs:%s:%s:%s", region, localAccount, name)
}

func (q *queues) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if target := r.Header.Get("X-Amz-Target"); target != "AmazonSQS.SendMessage" {
		awsError(w, "UnknownOperationException", fmt.Sprintf("the sandbox has no such SQS call: %q", target))
		return
	}
	var in struct {
		QueueURL    string `json:"QueueUrl"`
		MessageBody string
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, 8*maxMessage)).Decode(&in); err != nil {
		awsError(w, "SerializationException", "the body is not JSON")
		return
	}
	at := slices.IndexFunc(q.names, func(name string) bool { return queueURL(q.region, name) == in.QueueURL })
	switch {
	case at < 0:
		awsError(w, "com.amazonaws.sqs#QueueDoesNotExist", "The specified queue does not exist.")
		return
	case in.MessageBody == "" || len(in.MessageBody) > maxMessage:
		awsError(w, "com.amazonaws.sqs#InvalidParameterValue", fmt.Sprintf("A message must have 1 to %d bytes.", maxMessage))
		return
	}
	id, err := q.send(q.names[at], in.MessageBody, time.Now())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	sum := md5.Sum([]byte(in.MessageBody)) // the SDK compares it
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	_ = json.NewEncoder(w).Encode(map[string]string{"MessageId": id, "MD5OfMessageBody": hex.EncodeToString(sum[:])})
}

// send puts a message into a queue.
func (q *queues) send(queue, body string, now time.Time) (id string, err error) {
	m := message{Queue: queue, ID: newUUID(), SentAt: now.UTC().Format(time.RFC3339), Body: json.RawMessage(body)}
	if !json.Valid(m.Body) {
		if m.Body, err = json.Marshal(body); err != nil {
			return "", err
		}
	}
	return m.ID, q.messages.add(m)
}
