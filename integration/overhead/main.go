// Command overhead measures what a guarded call costs beyond the DynamoDB calls that it makes: the client process's user
// and system CPU time (getrusage), with the database in another process. Guarded calls and bare SDK calls with the very
// same inputs take turns, in pairs, so that a machine that slows down slows both.
//
//	go run ./integration/overhead [-calls 5000] [-pairs 10]
//
// It prints the medians and the ratio for a first call (PutItem and UpdateItem) and for a replay (a PutItem that is
// refused with ALL_OLD).
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/idempotency"
	"firstwriter/idempotency/dynamostore"
	"firstwriter/integration/dynamofake"
)

const table = "overhead"

func main() {
	calls := flag.Int("calls", 5000, "`number` of calls of each kind, 100 to 100000")
	pairs := flag.Int("pairs", 10, "`number` of pairs that they are split into, 1 to 100")
	serve := flag.Bool("serve", false, "be the database process (used by the command itself)")
	flag.Parse()
	err := error(nil)
	switch {
	case *serve:
		err = serveDatabase()
	case *calls < 100 || *calls > 100_000 || *pairs < 1 || *pairs > 100 || flag.NArg() > 0:
		err = errors.New("overhead: -calls is 100 to 100000 and -pairs 1 to 100; see -help")
	default:
		err = run(context.Background(), *calls, *pairs)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serveDatabase serves until standard input ends, which it does with the process that measures.
func serveDatabase() error {
	fake, err := dynamofake.Open(dynamofake.Options{})
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(ln.Addr())
	server := &http.Server{Handler: fake}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		server.Close()
	}()
	if err := server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return fake.Close()
}

// startDatabase starts this program again as the database.
func startDatabase(ctx context.Context) (addr string, stop func() error, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	cmd := exec.CommandContext(ctx, self, "-serve")
	cmd.Stderr = os.Stderr
	in, errIn := cmd.StdinPipe()
	out, errOut := cmd.StdoutPipe()
	if err := errors.Join(errIn, errOut, cmd.Start()); err != nil {
		return "", nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	return strings.TrimSpace(line), func() error { in.Close(); return cmd.Wait() }, err
}

func run(ctx context.Context, calls, pairs int) error {
	addr, stop, err := startDatabase(ctx)
	if err != nil {
		return fmt.Errorf("overhead: database: %w", err)
	}
	defer stop()
	b, err := newBench(ctx, "http://"+addr)
	if err != nil {
		return fmt.Errorf("overhead: %w", err)
	}
	per := calls / pairs
	fmt.Printf("user+system CPU of the client process, microseconds per call, %d calls of each kind in %d pairs\n", per*pairs, pairs)
	fmt.Printf("%-8s %10s %10s %8s\n", "", "guarded", "bare", "ratio")
	for _, k := range []struct {
		name          string
		guarded, bare func(context.Context) error
	}{{"first", b.first, b.bareFirst}, {"replay", b.replay, b.bareReplay}} {
		var guarded, bare, ratio []float64
		for pair := range pairs + 1 {
			g, errG := cpu(ctx, per, k.guarded)
			r, errB := cpu(ctx, per, k.bare)
			if err := errors.Join(errG, errB); err != nil {
				return fmt.Errorf("overhead: %s: %w", k.name, err)
			}
			if pair > 0 { // the first one warms up
				guarded, bare, ratio = append(guarded, g), append(bare, r), append(ratio, g/r)
			}
		}
		fmt.Printf("%-8s %10.1f %10.1f %8.3f\n", k.name, median(guarded), median(bare), median(ratio))
	}
	return nil
}

// cpu is the CPU time of one call in microseconds, over n calls.
func cpu(ctx context.Context, n int, call func(context.Context) error) (float64, error) {
	start := usage()
	for range n {
		if err := call(ctx); err != nil {
			return 0, err
		}
	}
	return float64((usage() - start).Nanoseconds()) / 1000 / float64(n), nil
}

func usage() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u) // cannot fail for the calling process
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// bench makes guarded calls, and bare ones with the inputs that the guarded ones had.
type bench struct {
	client *dynamodb.Client
	guard  *idempotency.Guard
	spy    *spy
	n      int // names keys
}

// spy keeps the inputs of the last calls.
type spy struct {
	*dynamodb.Client
	put    *dynamodb.PutItemInput
	update *dynamodb.UpdateItemInput
}

func (s *spy) PutItem(ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	s.put = in
	return s.Client.PutItem(ctx, in, o...)
}

func (s *spy) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	s.update = in
	return s.Client.UpdateItem(ctx, in, o...)
}

func newBench(ctx context.Context, endpoint string) (*bench, error) {
	client := dynamodb.NewFromConfig(aws.Config{Region: "us-east-1", BaseEndpoint: &endpoint,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")}, dynamostore.Tune)
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{TableName: aws.String(table), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}}})
	if err != nil {
		return nil, err
	}
	s := &spy{Client: client}
	guard, err := idempotency.New(idempotency.Config{Store: dynamostore.New(s, table), Scope: idempotency.SharedScope,
		Logger: slog.New(slog.DiscardHandler)})
	return &bench{client: client, guard: guard, spy: s}, err
}

func (b *bench) serve(ctx context.Context, key string, replayed bool) error {
	r := b.guard.Serve(ctx, &idempotency.Request{Method: "POST", Path: "/payments", Route: "POST /payments", Body: body,
		Header: http.Header{"Content-Type": {"application/json"}, idempotency.KeyHeader: {key}}}, created)
	if r.Status != http.StatusCreated || (r.Header.Get(idempotency.ReplayHeader) != "") != replayed {
		return fmt.Errorf("answered %d %s", r.Status, r.Body)
	}
	return nil
}

var body = []byte(`{"amount":1299,"currency":"EUR","source":"tok_ok","reference":"order-42"}`)

func created(context.Context) (*idempotency.Response, error) {
	return &idempotency.Response{Status: http.StatusCreated, Header: http.Header{"Content-Type": {"application/json"}, "Location": {"/payments/1"}},
		Body: []byte(`{"id":"pay_1","amount":1299,"currency":"EUR","status":"captured"}`)}, nil
}

func (b *bench) first(ctx context.Context) error {
	b.n++
	return b.serve(ctx, fmt.Sprint("key-", b.n), false)
}

// bareFirst makes the calls of the last guarded one, on another id.
func (b *bench) bareFirst(ctx context.Context) error {
	b.n++
	id := &types.AttributeValueMemberS{Value: fmt.Sprintf("%043d", b.n)}
	b.spy.put.Item["id"], b.spy.update.Key["id"] = id, id
	_, errPut := b.client.PutItem(ctx, b.spy.put)
	_, errUpdate := b.client.UpdateItem(ctx, b.spy.update)
	return errors.Join(errPut, errUpdate)
}

func (b *bench) replay(ctx context.Context) error { return b.serve(ctx, "key-1", true) }

// bareReplay makes the call of the last guarded replay, which is refused.
func (b *bench) bareReplay(ctx context.Context) error {
	_, err := b.client.PutItem(ctx, b.spy.put)
	var refused *types.ConditionalCheckFailedException
	if !errors.As(err, &refused) {
		return fmt.Errorf("a bare replay was not refused: %w", err)
	}
	return nil
}
