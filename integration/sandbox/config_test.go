package sandbox

import (
	"context"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestAddresses(t *testing.T) {
	for addr, ok := range map[string]bool{
		"127.0.0.1:3000": true, "127.0.0.1:0": true, "localhost:3000": true, "[::1]:3000": true, "127.8.8.8:1": true,
		"0.0.0.0:3000": false, ":3000": false, "[::]:3000": false, "192.168.1.2:3000": false, "example.com:80": false,
		"127.0.0.1": false, "": false, "localhost.example.com:80": false, "127.0.0.1.example.com:80": false,
	} {
		if err := checkAddr(addr); (err == nil) != ok {
			t.Errorf("%q: %v", addr, err)
		}
	}
}

func TestEndpoints(t *testing.T) {
	for endpoint, ok := range map[string]bool{
		"http://127.0.0.1:8000": true, "https://db.example.com": true, "http://amazonaws.com.example.com": true,
		"https://dynamodb.eu-central-1.amazonaws.com": false, "https://dynamodb.cn-north-1.amazonaws.com.cn": false,
		"https://dynamodb.eu-central-1.api.aws": false, "https://DYNAMODB.us-east-1.AmazonAWS.com.": false,
		"127.0.0.1:8000": false, "ftp://127.0.0.1": false, "http://": false, "::": false,
	} {
		if err := checkEndpoint(endpoint, false); (err == nil) != ok {
			t.Errorf("%q: %v", endpoint, err)
		}
	}
	if err := checkEndpoint("https://dynamodb.eu-central-1.amazonaws.com", true); err != nil {
		t.Errorf("AWS with leave: %v", err)
	}
}

func TestStartRefuses(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for name, tt := range map[string]struct {
		cfg  Config
		want string
	}{
		"public address": {Config{Addr: "0.0.0.0:3000"}, "only loopback addresses"},
		"taken address":  {Config{Addr: taken.Addr().String()}, "address already in use"},
		"AWS":            {Config{DynamoDBEndpoint: "https://dynamodb.us-east-1.amazonaws.com"}, "-allow-aws"},
		"long timeout":   {Config{Timeout: 15*time.Minute + 1}, "timeout 15m0.000000001s is not between 1s and 15m, the limits of Lambda"},
		"short timeout":  {Config{Timeout: time.Second - 1}, "timeout 999.999999ms is not between 1s and 15m"},
		"past timeout":   {Config{Timeout: -time.Second}, "timeout -1s is not between 1s and 15m"},
		"no template":    {Config{Template: "testdata/none.yaml"}, "testdata/none.yaml"},
		"no recipe":      {Config{Template: "testdata/norecipe/template.yaml"}, "make build-Lost in testdata/norecipe failed"},
		"ends at once":   {Config{Template: "testdata/broken/template.yaml"}, "function Broken: the process ended before it asked for work: exit status 7"},
		"no bootstrap":   {Config{Template: "testdata/broken/nothing.yaml"}, "left no file bootstrap"},
	} {
		t.Run(name, func(t *testing.T) {
			tt.cfg.Log = &syncBuffer{}
			s, err := Start(context.Background(), tt.cfg)
			if err == nil {
				s.Close()
				t.Fatal("started")
			}
			if !strings.HasPrefix(err.Error(), "sandbox: ") || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q, want one line with %q", err, tt.want)
			}
		})
	}
}

func TestDataFolderIsForOne(t *testing.T) {
	dir := t.TempDir()
	lock, err := lockData(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockData(dir); err == nil || !strings.Contains(err.Error(), "used by another sandbox") {
		t.Errorf("error %v", err)
	}
	lock.Close()
	again, err := lockData(dir)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

// A sandbox on another one's database, with a data folder, is started twice.
func TestDataAndDatabaseOfOthers(t *testing.T) {
	cfg := Config{
		Template: "testdata/echo/template.yaml", Data: t.TempDir(), DynamoDBEndpoint: shared.services.database, Log: &syncBuffer{},
		Parameters: map[string]string{"JwtAudience": "mine"},
	}
	var token string
	for round := range 2 {
		s, err := Start(context.Background(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if s.Database() != nil {
			t.Error("it has a database of its own")
		}
		if round == 0 {
			if token, err = s.Token("acme", "alice"); err != nil {
				t.Fatal(err)
			}
		}
		a, no := s.issuer.authorize(token, nil)
		if no != nil || a.JWT.Claims["aud"] != "mine" {
			t.Errorf("round %d: %v %v", round, a, no)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFunctionEnvironment(t *testing.T) {
	f := function{id: "F", handler: "bootstrap", memoryMB: 512, env: map[string]string{"MINE": "1", "AWS_REGION": "elsewhere", "TZ": "X"}}
	t.Setenv("AWS_PROFILE", "private")
	t.Setenv("UNRELATED", "private")
	env := functionEnv(f, services{region: "us-east-1", database: "http://db", secrets: "http://secrets"})
	for _, want := range []string{
		"MINE=1", "AWS_REGION=us-east-1", "AWS_LAMBDA_FUNCTION_NAME=F", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=512", "_HANDLER=bootstrap", "TZ=X",
		"AWS_ENDPOINT_URL_DYNAMODB=http://db", "AWS_ENDPOINT_URL_SECRETS_MANAGER=http://secrets", "AWS_ENDPOINT_URL=http://secrets", "AWS_ACCESS_KEY_ID=sandbox",
	} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is missing in %v", want, env)
		}
	}
	for _, private := range []string{"AWS_PROFILE=private", "UNRELATED=private"} {
		if slices.Contains(env, private) {
			t.Errorf("%s was passed on", private)
		}
	}
	real := functionEnv(f, services{region: "us-east-1", database: "https://aws", realCredentials: true})
	if !slices.Contains(real, "AWS_PROFILE=private") || slices.Contains(real, "AWS_ACCESS_KEY_ID=sandbox") || !slices.Contains(real, "AWS_REGION=us-east-1") {
		t.Errorf("with AWS itself: %v", real)
	}
}

func TestOuterMakeIsForgotten(t *testing.T) {
	got := withoutMake([]string{"MAKEFLAGS= -- ARGS=x", "PATH=/bin", "MAKELEVEL=1", "MFLAGS=-w"})
	if !slices.Equal(got, []string{"PATH=/bin"}) {
		t.Errorf("left %v", got)
	}
}
