package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// root is the module's directory, seen from this package.
const root = "../../.."

// tree copies what make lint needs of this repository's functions, so that it can be broken.
func tree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum", "Makefile", "template.yaml", "functions", "idempotency"} {
		err := filepath.WalkDir(filepath.Join(root, name), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && (d.Name() == "testdata" || d.Name() == "lint" || d.Name() == "cmd") {
				return fs.SkipDir
			}
			if d.IsDir() || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			write(t, filepath.Join(dir, rel), string(text))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// guards are the calls that guard this repository's functions, and where the handler is started and routed to.
var guards = []struct{ function, file, call, started, route string }{
	{"PaymentsFunction", "functions/payments/main.go", "apigateway.HTTP(", "functions/payments/main.go:", "POST /payments"},
	{"OrdersFunction", "functions/orders/main.go", "apigateway.HTTP(", "functions/orders/main.go:", "POST /orders"},
}

// TestGuardRemoved takes the guard out of each function. What stays compiles, and imports the guard as before.
func TestGuardRemoved(t *testing.T) {
	dir := tree(t)
	if code, _, stderr := check(t, dir, "-template", "template.yaml", "./functions/..."); code != 0 || stderr != "" {
		t.Fatalf("before: %d %s", code, stderr)
	}
	for _, g := range guards {
		file := filepath.Join(dir, g.file)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		bare := strings.Replace(string(text), g.call, "second(", 1) + "\nfunc second[G, H any](_ G, h H) H { return h }\n"
		if !strings.Contains(string(text), g.call) {
			t.Fatalf("%s has no %s", g.file, g.call)
		}
		write(t, file, bare)
		code, _, stderr := check(t, dir, "-template", "template.yaml", "./functions/...")
		if code != 1 {
			t.Errorf("%s without its guard: code %d", g.function, code)
		}
		holds(t, stderr, g.started, "lambda.Start runs a handler of API requests without a guard",
			"unguarded: "+g.route+" is routed to "+g.function)
		if !strings.Contains(stderr, "template.yaml:") || strings.Count(stderr, "\n") != 2 {
			t.Errorf("%s: want two lines, one of the template:\n%s", g.function, stderr)
		}
		write(t, file, string(text))
	}
}

const health = `package main

import (
	"context"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
)

func main() { lambda.Start(health) }

func health(context.Context, events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
	return events.APIGatewayV2HTTPResponse{StatusCode: 204}, nil
}
`

const healthFunction = `  HealthFunction:
    Type: AWS::Serverless::Function
    Metadata:
      BuildMethod: go1.x
    Properties:
      CodeUri: functions/health
      Handler: bootstrap
      Runtime: provided.al2023
      Events:
        Get:
          Type: HttpApi
          Properties:
            ApiId: !Ref Api
            Method: GET
            Path: /health
`

const postRoute = `        Post:
          Type: HttpApi
          Properties:
            ApiId: !Ref Api
            Method: POST
            Path: /health
`

// TestRouteAdded gives a function that only reads, and so needs no guard, a route that writes.
func TestRouteAdded(t *testing.T) {
	dir := tree(t)
	write(t, filepath.Join(dir, "functions/health/main.go"), health)
	text, err := os.ReadFile(filepath.Join(dir, "template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	with := func(added string) string {
		return strings.Replace(string(text), "\nResources:\n", "\nResources:\n"+added, 1)
	}
	write(t, filepath.Join(dir, "template.yaml"), with(healthFunction))
	if code, _, stderr := check(t, dir, "-template", "template.yaml", "./functions/..."); code != 0 || stderr != "" {
		t.Fatalf("a function that reads: %d %s", code, stderr)
	}
	write(t, filepath.Join(dir, "template.yaml"), with(healthFunction+postRoute))
	code, _, stderr := check(t, dir, "-template", "template.yaml", "./functions/...")
	if code != 1 {
		t.Errorf("code %d", code)
	}
	holds(t, stderr, "functions/health/main.go:10:15: unguarded: lambda.Start",
		"unguarded: POST /health is routed to HealthFunction, which runs without a guard (lambda.Start, main.go:10)")
}
