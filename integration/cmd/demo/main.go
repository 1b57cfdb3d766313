// Command demo shows what idempotency keys are for, on a sandbox of its own: one payment whose answer is lost and which
// is sent again, and 50 copies at once of another. It prints what became of the requests and how often the provider
// charged.
//
//	go run ./integration/cmd/demo [-copies 50]
//
// Exit status: 0 if each payment was charged once, 1 if not, or if the sandbox did not start.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"

	"firstwriter/integration/sandbox"
)

func main() {
	copies := flag.Int("copies", 50, "`number` of copies sent at once, 1 to 500")
	verbose := flag.Bool("v", false, "show the functions' logs")
	flag.Parse()
	if flag.NArg() > 0 || *copies < 1 || *copies > 500 {
		fmt.Fprintln(os.Stderr, "demo: -copies is 1 to 500, and there are no arguments; see -help")
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	log := io.Discard
	if *verbose {
		log = os.Stderr
	}
	if err := run(ctx, *copies, log); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run plays both scenes and prints the table.
func run(ctx context.Context, copies int, log io.Writer) (err error) {
	fmt.Println("building the function and starting a sandbox …")
	s, err := sandbox.Start(ctx, sandbox.Config{Log: log})
	if err != nil {
		return err
	}
	defer s.Close()
	token, err := s.Token("acme", "alice")
	if err != nil {
		return err
	}
	shop := shop{base: s.URL(), token: token}
	scenes := []struct {
		name string
		play func(context.Context) (tally, error)
	}{
		{"answer lost, sent again", shop.answerLost},
		{fmt.Sprintf("%d copies at once", copies), func(ctx context.Context) (tally, error) { return shop.atOnce(ctx, copies) }},
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "\trequests\tno answer\texecutions\treplays\t409s\tother\tcharges\t")
	doubled := 0
	for _, scene := range scenes {
		t, err := scene.play(ctx)
		if err != nil {
			return fmt.Errorf("demo: %s: %w", scene.name, err)
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", scene.name, t.requests, t.lost, t.executions, t.replays, t.conflicts, t.other, t.charges)
		if t.charges != 1 {
			doubled++
		}
	}
	table.Flush()
	if doubled > 0 {
		return fmt.Errorf("demo: %d of %d payments were not charged exactly once", doubled, len(scenes))
	}
	fmt.Println("each payment was charged exactly once")
	return nil
}
