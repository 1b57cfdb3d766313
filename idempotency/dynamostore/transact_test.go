package dynamostore

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/idempotency"
)

func cancelled(codes ...string) error {
	e := &types.TransactionCanceledException{}
	for _, c := range codes {
		e.CancellationReasons = append(e.CancellationReasons, types.CancellationReason{Code: aws.String(c)})
	}
	return e
}

// TestVerdicts runs through all pairs of (our reason, an enlisted write's reason): F62, F89.
func TestVerdicts(t *testing.T) {
	const invalid, size = "ValidationError", "ItemCollectionSizeLimitExceeded"
	theirs := []string{reasonNone, reasonCondition, reasonConflict, reasonThroughput, reasonThrottling, invalid, size}
	retried := map[string]bool{reasonConflict: true, reasonThroughput: true, reasonThrottling: true}
	for _, ours := range theirs {
		for _, other := range theirs {
			want := noCancellation
			switch {
			case ours == reasonCondition:
				want = refusedOurs
			case retried[ours] || retried[other]:
				want = tryAgain
			case ours == reasonNone:
				want = refusedTheirs
			}
			if got := verdictOf(cancelled(ours, other)); got != want {
				t.Errorf("ours %s, theirs %s: verdict %d, want %d", ours, other, got, want)
			}
		}
	}
	for _, err := range []error{nil, errors.New("x"), &types.TransactionCanceledException{}, &types.TransactionInProgressException{}} {
		if got := verdictOf(err); got != noCancellation {
			t.Errorf("%v: verdict %d", err, got)
		}
	}
}

func TestBusinessAnswers(t *testing.T) {
	answer := func(reasons []types.CancellationReason) *idempotency.Response {
		return &idempotency.Response{Status: 400 + len(reasons)}
	}
	for _, c := range []struct {
		name   string
		codes  []string
		answer answerFunc
		status int // 0: none
	}{
		{"condition", []string{"None", reasonCondition}, answer, 402},
		{"condition, no function", []string{reasonCondition}, nil, 0},
		{"invalid write", []string{"ValidationError"}, answer, 0},
		{"condition and an invalid write", []string{reasonCondition, "ValidationError"}, answer, 0},
	} {
		err := business(reasonsOf(cancelled(c.codes...)), c.answer)
		var b *idempotency.BusinessError
		if !errors.As(err, &b) || (b.Answer == nil) != (c.status == 0) || b.Answer != nil && b.Answer.Status != c.status {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestGather(t *testing.T) {
	if _, err := gather([]any{types.TransactWriteItem{}, 7}); err == nil {
		t.Error("a stranger among enlisted writes is accepted")
	}
	many := make([]any, maxEnlisted+1)
	for i := range many {
		many[i] = types.TransactWriteItem{}
	}
	if _, err := gather(many); err == nil {
		t.Error("100 writes beside the completion are accepted")
	}
	if e, err := gather(many[1:]); err != nil || len(e.items) != maxEnlisted {
		t.Errorf("99 writes: %d, %v", len(e.items), err)
	}
}
