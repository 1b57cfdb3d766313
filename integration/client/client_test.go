//go:build unix

// Package client pays by idemcurl, as a script would: real processes that are killed, against the sandbox, whose functions
// are killed and whose database loses acknowledgements. In the end every payment is charged once.
//
//	go test ./integration/client -count=1 -timeout 30m -v -args -payments 500
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"firstwriter/idempotency/httpclient"
	"firstwriter/integration/sandbox"
)

var (
	payments = flag.Int("payments", 24, "how many payments are made")
	seed     = flag.Uint64("seed", 0, "seed of payments and disturbances; 0 is a new one")
)

const (
	atOnce    = 6
	maxRounds = 20 // of one payment
)

// world is what the payments are made in.
type world struct {
	t       *testing.T
	curl    string // the idemcurl binary
	base    string // the sandbox
	token   string
	journal string // a folder with one journal for each payment

	kills, faults, clientKills, resumes, restarts atomic.Int64
}

// TestPayments makes payments by idemcurl while its processes and the functions' are killed (F02, F03, F07, F08) and the
// database drops acknowledgements and fails (F04, F09, F63).
func TestPayments(t *testing.T) {
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	t.Logf("%d payments, seed %d", *payments, *seed)
	w := newWorld(t)
	ctx, stop := context.WithCancel(t.Context())
	var aside, wg sync.WaitGroup
	aside.Go(func() { w.agitate(ctx, rand.New(rand.NewPCG(*seed, 1))) })
	for worker := range atOnce {
		wg.Go(func() {
			for i := worker; i < *payments; i += atOnce {
				if err := w.pay(i); err != nil {
					t.Errorf("payment %d: %v", i, err)
				}
			}
		})
	}
	wg.Wait()
	stop()
	aside.Wait()
	w.audit()
	t.Logf("function kills %d, faults %d, idemcurl kills %d, resumes %d, begun anew %d", w.kills.Load(), w.faults.Load(),
		w.clientKills.Load(), w.resumes.Load(), w.restarts.Load())
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, curl: filepath.Join(t.TempDir(), "idemcurl"), journal: t.TempDir()}
	if out, err := exec.Command("go", "build", "-o", w.curl, "../../idempotency/cmd/idemcurl").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s, err := sandbox.Start(t.Context(), sandbox.Config{Template: "../../template.yaml", Timeout: 3 * time.Second, Log: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	w.base = s.URL()
	if w.token, err = s.Token("acme", "alice"); err != nil {
		t.Fatal(err)
	}
	return w
}

// source is a test token of the provider.
func source(rng *rand.Rand) string {
	sources := []string{"tok_ok", "tok_ok", "tok_lost", "tok_flaky", "tok_busy", "tok_slow_300", "tok_slow_after_300"}
	return sources[rng.IntN(len(sources))]
}

func reference(i int) string { return fmt.Sprintf("client-%05d", i) }

// pay makes one payment: it runs idemcurl, kills it at times, and goes on as the exit status and the journal say.
func (w *world) pay(i int) error {
	rng := rand.New(rand.NewPCG(*seed, uint64(i)+100))
	journal := filepath.Join(w.journal, reference(i))
	body := fmt.Sprintf(`{"amount":%d,"currency":"EUR","source":"%s","reference":"%s"}`, 1+rng.IntN(100_000), source(rng), reference(i))
	first := []string{"--json", body, "--keep-body", w.base + "/payments"}
	args := first
	for range maxRounds {
		code, complaints := w.run(rng, append(args, "--journal", journal, "-H", "Authorization: Bearer "+w.token, "--max-time", "20s"))
		if code == 1 || code == 64 {
			return fmt.Errorf("exit %d\n%s", code, complaints)
		}
		switch state, err := stateOf(journal); {
		case err != nil:
			return err
		case state == "absent" && code == 0:
			return errors.New("exit 0, and nothing in the journal")
		case state == "absent": // killed before it began: nothing was sent
			args = first
			w.restarts.Add(1)
		case state == "final":
			return nil
		default:
			args = []string{"resume"}
			w.resumes.Add(1)
		}
	}
	return errors.New("no final answer")
}

// run runs idemcurl and kills it at times, soon or late. A killed one has exit status -1.
func (w *world) run(rng *rand.Rand, args []string) (code int, complaints string) {
	var errs bytes.Buffer
	cmd := exec.Command(w.curl, args...)
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		return 64, err.Error()
	}
	if rng.IntN(2) == 0 {
		kill := time.AfterFunc(time.Duration(rng.IntN(40)*rng.IntN(40))*time.Millisecond, func() {
			if cmd.Process.Kill() == nil {
				w.clientKills.Add(1)
			}
		})
		defer kill.Stop()
	}
	_ = cmd.Wait() // the status says it
	return cmd.ProcessState.ExitCode(), errs.String()
}

// stateOf is what a journal says about its one payment: absent, unfinished or final.
func stateOf(journal string) (string, error) {
	if _, err := os.Stat(journal); err != nil {
		return "absent", nil
	}
	dir, err := httpclient.OpenDir(journal)
	if err != nil {
		return "", err
	}
	entries, err := dir.Entries()
	switch {
	case err != nil:
		return "", err
	case len(entries) == 0:
		return "absent", nil
	case len(entries) > 1:
		return "", fmt.Errorf("%d entries: the key was changed", len(entries))
	case entries[0].Status == 0:
		return "unfinished", nil
	case entries[0].Status != http.StatusCreated:
		return "", fmt.Errorf("answered %d", entries[0].Status)
	}
	return "final", nil
}

// agitate kills functions and makes database calls go wrong.
func (w *world) agitate(ctx context.Context, rng *rand.Rand) {
	ops, kinds := []string{"PutItem", "UpdateItem", "GetItem", "TransactWriteItems"}, []string{"drop-ack", "drop-ack", "error", "throttle"}
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Duration(100+rng.IntN(400)) * time.Millisecond):
		}
		if rng.IntN(3) == 0 {
			w.control(http.MethodPost, "/_sandbox/kill?function=PaymentsFunction", "", nil)
			w.kills.Add(1)
			continue
		}
		w.control(http.MethodPost, "/_sandbox/fault", fmt.Sprintf(`{"op":%q,"kind":%q,"nth":%d,"times":%d}`,
			ops[rng.IntN(len(ops))], kinds[rng.IntN(len(kinds))], 1+rng.IntN(3), 1+rng.IntN(3)), nil)
		w.faults.Add(1)
	}
}

// audit counts what the provider charged.
func (w *world) audit() {
	var charges []struct{ Reference string }
	w.control(http.MethodGet, "/_sandbox/psp/charges", "", &charges)
	made := map[string]int{}
	for _, c := range charges {
		made[c.Reference]++
	}
	for i := range *payments {
		if n := made[reference(i)]; n != 1 {
			w.t.Errorf("payment %d: %d charges", i, n)
		}
	}
	if len(charges) != *payments {
		w.t.Errorf("%d charges for %d payments", len(charges), *payments)
	}
}

// control calls a route of the sandbox and reads its answer.
func (w *world) control(method, path, body string, into any) {
	req, err := http.NewRequest(method, w.base+path, strings.NewReader(body))
	if err != nil {
		w.t.Error(err)
		return
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Error(err)
		return
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && into != nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil || res.StatusCode != http.StatusOK {
		w.t.Errorf("%s %s: %d %.200s, %v", method, path, res.StatusCode, text, err)
	}
}
