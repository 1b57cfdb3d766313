package simulation

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/idempotency"
	"firstwriter/idempotency/dynamostore"
	"firstwriter/integration/dynamofake"
)

const (
	records  = "idempotency" // tables
	business = "business"
)

// world is one run.
type world struct {
	random *rand.Rand // the scheduler's alone
	dice   *rand.Rand // for the handlers' stages
	set    settings
	flaw   Flaw

	server *dynamofake.Server
	line   http.RoundTripper // straight into the server, past the scheduler
	truth  *dynamostore.Store
	direct *dynamodb.Client

	machines []*machine
	callers  []*caller
	ledgers  []*ledger
	attempts []*attempt
	calls    []*call // on their way, in order
	now      int     // the step
	drained  bool    // nothing goes wrong any more, nobody comes
	jumped   atomic.Int64
	nextJump int

	tokens map[string]bool // of transactions that were committed

	told       map[string]int
	history    []string
	violations []Violation

	mu    sync.Mutex
	inbox []*call // guarded by mu; calls that the scheduler has not seen
}

// newWorld builds a run. It must be called in the run's bubble.
func newWorld(ctx context.Context, seed uint64, flaw Flaw) (*world, error) {
	w := &world{random: rand.New(rand.NewPCG(seed, 0)), dice: rand.New(rand.NewPCG(seed, 1)), flaw: flaw, tokens: map[string]bool{}, told: map[string]int{}}
	w.set = draw(w.random, w.dice)
	w.note("seed %d: %v", seed, w.set)
	var err error
	w.server, err = dynamofake.Open(dynamofake.Options{Now: w.clock, TTLDelay: w.set.ttlDelay, TransactionTime: w.set.transaction})
	if err != nil {
		return nil, err
	}
	w.line, w.direct = w.server.RoundTripper(), dynamodb.NewFromConfig(w.server.Config())
	w.truth = dynamostore.New(w.direct, records)
	if err := w.createTables(ctx); err != nil {
		return nil, err
	}
	for n := range w.set.machines {
		m, err := w.newMachine(n)
		if err != nil {
			return nil, err
		}
		w.machines = append(w.machines, m)
	}
	w.populate()
	return w, nil
}

// clock is true time: the bubble's, and what all clocks have jumped at once.
func (w *world) clock() time.Time {
	return time.Now().Round(0).Add(time.Duration(w.jumped.Load()))
}

func (w *world) createTables(ctx context.Context) error {
	for _, table := range []string{records, business} {
		_, err := w.direct.CreateTable(ctx, &dynamodb.CreateTableInput{TableName: &table, BillingMode: types.BillingModePayPerRequest,
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
			KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}}})
		if err != nil {
			return err
		}
	}
	_, err := w.direct.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{TableName: aws.String(records),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("expires_at"), Enabled: aws.Bool(true)}})
	return err
}

// note writes a line of the history. It holds nothing that another play of the seed would not repeat.
func (w *world) note(format string, args ...any) {
	w.history = append(w.history, fmt.Sprintf("%4d  ", w.now)+fmt.Sprintf(format, args...))
}

// machine is a process that answers requests, with a clock of its own.
type machine struct {
	n      int
	world  *world
	guard  *idempotency.Guard
	ahead  atomic.Int64 // of true time
	frozen int          // nothing of it moves before this step
	cutOff int          // none of its calls arrives before this step
	jumped int          // the step at which its clock jumped last
}

func (m *machine) clock() time.Time { return m.world.clock().Add(time.Duration(m.ahead.Load())) }

func (w *world) newMachine(n int) (*machine, error) {
	m := &machine{n: n, world: w}
	m.ahead.Store(int64(w.set.offset(w.random)))
	client := dynamodb.NewFromConfig(w.server.Config(), dynamostore.Tune, func(o *dynamodb.Options) {
		o.HTTPClient, o.Credentials = wire{}, aws.AnonymousCredentials{} // signing takes time, and nobody looks
		o.Retryer = unlimited()
	})
	var store idempotency.Store = dynamostore.New(client, records)
	if w.flaw.Store != nil {
		store = w.flaw.Store(store)
	}
	var err error
	m.guard, err = idempotency.New(m.config(&seam{store}))
	w.note("machine %d is %v ahead", n, time.Duration(m.ahead.Load()))
	return m, err
}

// unlimited retries as [dynamostore.Tune] says, without the SDK's quota for all calls of a client: whose retry comes first
// within a step is a matter of chance, and the last one that the quota allows would be too.
func unlimited() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts, o.BaseDelay, o.MaxBackoff = dynamostore.MaxAttempts, dynamostore.BaseDelay, dynamostore.MaxBackoff
		o.RateLimiter = ratelimit.None
	})
}
