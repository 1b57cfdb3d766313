// Command function is what the sandbox's tests run: it returns the event that it was given, and misbehaves where the
// query asks for it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

func main() { lambda.Start(handle) }

// handle obeys the query's "do". The response is any JSON value, so that malformed ones can be made too.
func handle(ctx context.Context, event json.RawMessage) (any, error) {
	var e events.APIGatewayV2HTTPRequest
	if err := json.Unmarshal(event, &e); err != nil {
		return nil, err
	}
	what, arg, _ := strings.Cut(e.QueryStringParameters["do"], " ")
	switch what {
	case "sleep":
		d, err := time.ParseDuration(arg)
		if err != nil {
			return nil, err
		}
		fmt.Println("sleeping", d)
		time.Sleep(d)
	case "late": // sleeps, then leaves a trace
		d, word, _ := strings.Cut(arg, " ")
		pause, err := time.ParseDuration(d)
		if err != nil {
			return nil, err
		}
		time.Sleep(pause)
		fmt.Println(word)
	case "exit":
		os.Exit(3)
	case "panic":
		panic("asked to")
	case "fail":
		return nil, errors.New("asked to")
	case "log":
		fmt.Println(arg)
		fmt.Fprintln(os.Stderr, arg, "again")
	case "child": // one that would outlive this process
		cmd := exec.Command("sleep", arg)
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		return cmd.Process.Pid, nil
	case "big":
		return map[string]any{"statusCode": 200, "body": strings.Repeat("x", 7<<20)}, nil
	case "return":
		return json.RawMessage(arg), nil
	case "env":
		return os.Getenv(arg), nil
	case "pid":
		return os.Getpid(), nil
	case "deadline":
		deadline, _ := ctx.Deadline()
		lc, _ := lambdacontext.FromContext(ctx)
		return map[string]any{"left_ms": time.Until(deadline).Milliseconds(), "arn": lc.InvokedFunctionArn, "id": lc.AwsRequestID}, nil
	}
	return event, nil
}
