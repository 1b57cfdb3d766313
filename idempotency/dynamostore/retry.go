package dynamostore

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const (
	conflictTries   = 5   // of a single write that meets open transactions: about 100 ms
	completionTries = 100 // of a completion: its budget ends it first
	firstPause      = 10 * time.Millisecond
	maxPause        = 200 * time.Millisecond
)

// retry sends again while again says so, with jittered pauses, within the context's deadline.
func retry(ctx context.Context, tries int, again func(error) bool, send func() error) error {
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		err := send()
		if tries--; err == nil || tries == 0 || !again(err) {
			return err
		}
		timer := time.NewTimer(pause/2 + rand.N(pause/2))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}

// isConflict reports whether a single write was kept out by somebody's open transaction, or by a write of another
// Region where the table is replicated with strong consistency. The SDK does not retry these.
func isConflict(err error) bool {
	var transaction *types.TransactionConflictException
	var region *types.ReplicatedWriteConflictException
	return errors.As(err, &transaction) || errors.As(err, &region)
}

// isTransient reports whether another try may be answered.
func isTransient(err error) bool {
	return isConflict(err) || sdkretry.IsErrorRetryables(sdkretry.DefaultRetryables).IsErrorRetryable(err) == aws.TrueTernary
}
