// Command dynamofake serves a local DynamoDB on a loopback address.
//
//	go run ./integration/cmd/dynamofake -addr 127.0.0.1:8000 [-data DIR]
//
// It prints its URL when it is ready, and stops on SIGINT and SIGTERM.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"firstwriter/integration/dynamofake"
)

// gcPercent makes the collector run less often than by default: most of a
// database's heap is items that stay, and to look at them again and again is
// what it spends its time with. The environment's GOGC goes before it.
const gcPercent = 400

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run reads the arguments and serves until the context ends.
func run(ctx context.Context, out io.Writer, args []string) error {
	flags := flag.NewFlagSet("dynamofake", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	addr := flags.String("addr", "127.0.0.1:8000", "loopback `address` to listen on; port 0 is any free one")
	dir := flags.String("data", "", "keep the data in this `directory`; without it, in memory")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(out)
		flags.Usage()
		return nil
	case err != nil:
		return fmt.Errorf("dynamofake: %w; -h shows the flags", err)
	case flags.NArg() > 0:
		return fmt.Errorf("dynamofake: unexpected argument %q; -h shows the flags", flags.Arg(0))
	}
	if err := checkLoopback(*addr); err != nil {
		return err
	}
	return serve(ctx, out, *addr, *dir)
}

// serve serves until the context ends. It writes its URL to out when it is
// ready.
func serve(ctx context.Context, out io.Writer, addr, dir string) error {
	db, err := dynamofake.Open(dynamofake.Options{Dir: dir})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		_ = db.Close() // the first error is the one to tell
		return fmt.Errorf("dynamofake: %w", err)
	}
	server := &http.Server{Handler: db, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	fmt.Fprintf(out, "dynamofake: http://%s\n", listener.Addr())
	select {
	case err = <-served:
	case <-ctx.Done():
		err = shutdown(server)
	}
	return errors.Join(err, db.Close())
}

// shutdown lets running calls end, for a while.
func shutdown(server *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		return fmt.Errorf("dynamofake: stopping: %w", err)
	}
	return nil
}

// checkLoopback refuses addresses that other machines could reach: the server
// asks nobody who they are.
func checkLoopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("dynamofake: -addr %q: %w; use 127.0.0.1:8000", addr, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("dynamofake: -addr %q is not a loopback address; use 127.0.0.1:8000", addr)
	}
	return nil
}
