package endpoint

import (
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"firstwriter/idempotency"
	"firstwriter/idempotency/dynamostore"
	"firstwriter/idempotency/emf"
)

const maxBody = 512 * 1024 // bytes of a request body

// NewGuard makes the guard of an endpoint. All have one table and namespace and the same settings: a key belongs to one
// request, whatever its path. They differ in what validate refuses before it uses up a key.
func NewGuard(s Settings, db *dynamodb.Client, log *slog.Logger, validate idempotency.Hook) (*idempotency.Guard, error) {
	return idempotency.New(idempotency.Config{
		Store:     dynamostore.New(db, s.IdempotencyTable),
		Scope:     idempotency.JWTClaim(tenantClaim),
		Principal: idempotency.JWTClaim("sub"),
		Validate:  validate,
		MaxBody:   maxBody,
		Logger:    log,
		Observe:   emf.New(os.Stdout, s.Metrics).Observe,
	})
}

// WallClock is the time without the monotonic reading, which stands still while Lambda has the function frozen.
func WallClock() time.Time { return time.Now().Round(0) }

// Timestamp is RFC 3339 in UTC with milliseconds: of one length, so that the order of the text is that of the times.
func Timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
