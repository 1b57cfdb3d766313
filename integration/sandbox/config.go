package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Config says what to run and where. The zero value serves ./template.yaml on a free port, with all data in memory.
type Config struct {
	// Addr is the loopback address that the API is served on, "127.0.0.1:3000" or "localhost:3000". Default:
	// "127.0.0.1:0", a free port.
	Addr string
	// Template is the path of the SAM template. Default: "template.yaml".
	Template string
	// Parameters are values of the template's parameters. JwtIssuer, JwtAudience, ProviderUrl and ProviderSecretArn have
	// the sandbox's own where they are not given.
	Parameters map[string]string
	// Timeout is every function's timeout instead of the template's, from 1 s to 15 minutes as on Lambda. Over 30 s the
	// gateway answers 503 first. Default: the template's.
	Timeout time.Duration
	// Data is a folder that keeps the database, the fake provider's charges, what was published and queued, how far streams
	// were read, and the key that signs tokens. Default: none; everything is forgotten.
	Data string
	// DynamoDBEndpoint is the URL of a database server to use instead of the built-in one. The fault route and the
	// dynamodb part of the statistics then answer 501, and functions are invoked by streams only if the server has them,
	// which the log says. Default: the built-in one.
	DynamoDBEndpoint string
	// AllowAWS lets DynamoDBEndpoint be AWS itself. Tables are created there and calls cost money.
	AllowAWS bool
	// Region is the AWS Region that functions see. Default: "us-east-1".
	Region string
	// Intercept puts a handler of the caller's around the built-in database and the fake provider, for tests that act at a
	// certain call. service is "database" or "provider". Default: none.
	Intercept func(service string, next http.Handler) http.Handler
	// Log takes what the functions print and what the sandbox says about them, one line each with the function's name in
	// front. Default: standard error.
	Log io.Writer
}

// withDefaults fills in what was left out and refuses what is wrong.
func (c Config) withDefaults() (Config, error) {
	c.Addr = cmp.Or(c.Addr, "127.0.0.1:0")
	c.Template = cmp.Or(c.Template, "template.yaml")
	c.Region = cmp.Or(c.Region, localRegion)
	if c.Log == nil {
		c.Log = os.Stderr
	}
	if c.Intercept == nil {
		c.Intercept = func(_ string, next http.Handler) http.Handler { return next }
	}
	if c.Timeout != 0 && (c.Timeout < time.Second || c.Timeout > 15*time.Minute) {
		return c, fmt.Errorf("timeout %v is not between 1s and 15m, the limits of Lambda", c.Timeout)
	}
	if c.DynamoDBEndpoint != "" {
		if err := checkEndpoint(c.DynamoDBEndpoint, c.AllowAWS); err != nil {
			return c, err
		}
	}
	return c, checkAddr(c.Addr)
}

// checkAddr refuses addresses that other machines can reach: the control routes hand out tokens and kill processes.
func checkAddr(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("address %q: host:port is expected, such as 127.0.0.1:3000", addr)
	}
	if host == "localhost" {
		return nil
	}
	if ip, err := netip.ParseAddr(host); err != nil || !ip.IsLoopback() {
		return fmt.Errorf("address %q: only loopback addresses are served, such as 127.0.0.1:3000", addr)
	}
	return nil
}

// checkFree reports whether an address can be listened on, so that a sandbox that cannot serve says so before it
// builds anything.
func checkFree(addr string) error {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	return ln.Close()
}

// lockData makes the data folder and keeps other sandboxes out of it while this one runs.
func lockData(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := lockFile(filepath.Join(dir, "lock"))
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("the data folder %s is used by another sandbox", dir)
	}
	return f, err
}
