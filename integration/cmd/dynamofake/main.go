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
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"firstwriter/integration/dynamofake"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	addr := flag.String("addr", "127.0.0.1:8000", "loopback `address` to listen on; port 0 is any free one")
	dir := flag.String("data", "", "keep the data in this `directory`; empty: in memory")
	flag.Parse()
	if err := run(ctx, *addr, *dir, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run serves until the context ends.
func run(ctx context.Context, addr, dir string, rest []string) error {
	if len(rest) > 0 {
		return fmt.Errorf("dynamofake: unexpected argument %q: use -addr and -data", rest[0])
	}
	if err := checkLoopback(addr); err != nil {
		return err
	}
	db, err := dynamofake.Open(dynamofake.Options{Dir: dir})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return errors.Join(fmt.Errorf("dynamofake: %w", err), db.Close())
	}
	server := &http.Server{Handler: db, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	fmt.Printf("dynamofake: http://%s\n", listener.Addr())
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
