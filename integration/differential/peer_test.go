package differential

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
)

// features are what a peer can be asked.
type features struct {
	transactions, streams bool
	// tokens: it keeps client request tokens.
	tokens bool
	// paths: its conditions compare attributes with attributes.
	paths bool
	// documents: its conditions compare sets, lists and maps by what is in them.
	documents bool
	// spellings: it takes numbers in any spelling, and gives them back in one.
	spellings bool
	// mistakes: it looks for most of the mistakes that the service looks for.
	mistakes bool
}

// all is what the service has.
var all = features{transactions: true, streams: true, tokens: true, paths: true, documents: true, spellings: true, mistakes: true}

// peer is what dynamofake is compared with.
type peer struct {
	*endpoint
	features
	// messages: its messages are the service's, so that they are compared; capacity: so is what it reports as consumed.
	messages, capacity bool
	faults             []*fault
	// start starts the peer anew, without data; nil if it is not ours to start.
	start func() (url string)
	// lasts is after how many sequences it is started anew even without a crash; 0 is never.
	lasts int
}

const startTime = time.Minute

// startDynalite starts dynalite, if it is installed.
func startDynalite(t *testing.T) *peer {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("SKIPPED: node is not installed, so nothing was compared with dynalite")
	}
	cli := filepath.Join("dynalite", "node_modules", "dynalite", "cli.js")
	if _, err := os.Stat(cli); err != nil {
		t.Skip("SKIPPED: dynalite is not installed (make dynalite), so nothing was compared with it")
	}
	start := starter(t, func(port string) *exec.Cmd {
		return exec.Command(node, cli, "--host", "127.0.0.1", "--port", port, "--createTableMs", "0", "--deleteTableMs", "0", "--updateTableMs", "0")
	})
	return &peer{
		endpoint: local("dynalite", start()),
		start:    start,
		features: features{spellings: true, mistakes: true},
		messages: true,
		capacity: true,
		faults:   dynaliteFaults,
	}
}

// startMoto starts moto_server, if it is installed.
func startMoto(t *testing.T) *peer {
	path, err := exec.LookPath("moto_server")
	if err != nil {
		t.Skip("SKIPPED: moto_server is not installed (pip install 'moto[server]==5.2.*'), so nothing was compared with moto")
	}
	version, err := exec.Command("python3", "-c", "import moto; print(moto.__version__)").Output()
	if err != nil || !strings.HasPrefix(string(version), "5.2.") {
		t.Skipf("SKIPPED: moto is of version %q (%v), and its faults are known of 5.2: nothing was compared with it", version, err)
	}
	start := starter(t, func(port string) *exec.Cmd { return exec.Command(path, "-H", "127.0.0.1", "-p", port) })
	return &peer{
		endpoint: local("moto", start()),
		start:    start,
		features: features{transactions: true, streams: true, documents: true},
		faults:   motoFaults,
		lasts:    200, // it copies all that its streams have, again and again
	}
}

// starter makes a function that starts a server process, in place of the one that it started before. The last one is
// killed when the test ends.
func starter(t *testing.T, command func(port string) *exec.Cmd) func() (url string) {
	stop := func() {}
	t.Cleanup(func() { stop() })
	return func() (url string) {
		stop()
		url, stop = start(t, command)
		return url
	}
}

// start starts a server process on a free port and waits until it answers.
func start(t *testing.T, command func(port string) *exec.Cmd) (url string, stop func()) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := listener.Addr().String()
	listener.Close()
	_, port, _ := net.SplitHostPort(addr)
	cmd := command(port)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	stop = func() {
		_ = cmd.Process.Kill() // it may have ended by itself
		<-ended
	}
	ctx, cancel := context.WithTimeout(t.Context(), startTime)
	defer cancel()
	if err := waitFor(ctx, "http://"+addr, ended); err != nil {
		stop()
		t.Fatalf("%s does not answer: %v", filepath.Base(cmd.Path), err)
	}
	return "http://" + addr, stop
}

// waitFor polls until the server answers, whatever it says.
func waitFor(ctx context.Context, url string, ended chan error) error {
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		if response, err := http.DefaultClient.Do(r); err == nil {
			return response.Body.Close()
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case err := <-ended:
			ended <- err
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// namedEndpoint is what DYNAMODB_ENDPOINT names.
func namedEndpoint(t *testing.T) *peer {
	url := os.Getenv("DYNAMODB_ENDPOINT")
	if url == "" {
		t.Skip("SKIPPED: DYNAMODB_ENDPOINT names no other endpoint to compare with")
	}
	loaded, err := config.LoadDefaultConfig(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	e := local("endpoint", url)
	if loaded.Region != "" {
		e.region = loaded.Region
	}
	if _, err := loaded.Credentials.Retrieve(t.Context()); err == nil {
		e.credentials = loaded.Credentials
	}
	e.streamsURL = strings.Replace(url, "://dynamodb.", "://streams.dynamodb.", 1)
	return &peer{endpoint: e, features: all, capacity: true}
}
