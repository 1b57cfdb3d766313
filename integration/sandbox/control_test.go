package sandbox

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/google/go-cmp/cmp"
)

func TestSecretsBySDK(t *testing.T) {
	client := secretsmanager.New(secretsmanager.Options{
		Region: localRegion, BaseEndpoint: &shared.services.secrets, Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
	})
	arn := secretARN(localRegion)
	got, err := client.GetSecretValue(context.Background(), &secretsmanager.GetSecretValueInput{SecretId: &arn})
	if err != nil || *got.SecretString != shared.psp.secret || *got.ARN != arn {
		t.Errorf("%+v, error %v", got, err)
	}
	other := arn + "x"
	if _, err := client.GetSecretValue(context.Background(), &secretsmanager.GetSecretValueInput{SecretId: &other}); err == nil ||
		!strings.Contains(err.Error(), "ResourceNotFoundException") {
		t.Errorf("another secret: %v", err)
	}
	if _, err := client.DeleteSecret(context.Background(), &secretsmanager.DeleteSecretInput{SecretId: &arn}); err == nil ||
		!strings.Contains(err.Error(), "the sandbox has no such AWS call") {
		t.Errorf("another call: %v", err)
	}
}

func TestTokenRoute(t *testing.T) {
	res, err := http.Get(shared.URL() + "/_sandbox/token?tenant=acme&sub=alice")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("%v %v", res.Header, err)
	}
	a, no := shared.issuer.authorize("Bearer "+string(text), nil)
	if no != nil || a.JWT.Claims["tenant_id"] != "acme" || a.JWT.Claims["sub"] != "alice" {
		t.Errorf("%v %v", a, no)
	}
}

func TestControlErrors(t *testing.T) {
	for _, tt := range []struct {
		method, path, body string
		want               int
	}{
		{"GET", "/_sandbox/nothing", "", 404},
		{"GET", "/_sandbox/", "", 404},
		{"POST", "/_sandbox/token", "", 405},
		{"POST", "/_sandbox/kill?function=Nobody", "", 404},
		{"POST", "/_sandbox/fault", "{", 400},
	} {
		req, err := http.NewRequest(tt.method, shared.URL()+tt.path, strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != tt.want {
			t.Errorf("%s %s %s: %d, want %d", tt.method, tt.path, tt.body, res.StatusCode, tt.want)
		}
	}
}

func TestControlQueryMustParse(t *testing.T) {
	routes := []string{"GET /token", "GET /psp/charges", "GET /events", "GET /dead-letters", "POST /kill", "POST /fault", "GET /stats", "POST /reset", "GET /nothing"}
	for _, query := range []string{"reference=%zz", "a=1;b=2", "tenant=acme&%"} {
		for _, rt := range routes {
			method, path, _ := strings.Cut(rt, " ")
			w := httptest.NewRecorder()
			r := httptest.NewRequest(method, "/_sandbox"+path, strings.NewReader(`{"op":"PutItem","kind":"error"}`))
			r.URL.RawQuery = query
			(&control{psp: newPSP(t, "")}).handler().ServeHTTP(w, r)
			if w.Code != 400 || !strings.HasPrefix(w.Body.String(), `{"message":"the query does not parse: `) {
				t.Errorf("%s?%s: %d %s", rt, query, w.Code, w.Body)
			}
		}
	}
}

func TestFaultsThatAreRefused(t *testing.T) {
	defer shared.fake.Reset()
	for body, want := range map[string]string{
		"":               "fault: a JSON object is expected",
		" ":              "fault: a JSON object is expected",
		"{":              "fault: the JSON object is cut short",
		`{"op":"PutI`:    "fault: the JSON object is cut short",
		"{op}":           "fault: invalid character 'o'",
		"[]":             "fault: a JSON object is expected",
		`"x"`:            "fault: a JSON object is expected",
		"null":           "fault: a JSON object is expected",
		"7":              "fault: a JSON object is expected",
		`{"nth":"two"}`:  `fault: "nth" cannot be a JSON string`,
		`{"nth":1.5}`:    `fault: "nth" cannot be a JSON number 1.5`,
		`{"op":["Put"]}`: `fault: "op" cannot be a JSON array`,
		`{"ms":9223372036854775808,"kind":"delay"}`:                `fault: "ms" cannot be a JSON number 9223372036854775808`,
		`{"op":"PutItem","kind":"error"} x`:                        "fault: there is text after the JSON object",
		`{"op":"PutItem","kind":"error"}{"op":"PutItem"}`:          "fault: there is text after the JSON object",
		`{"op":"PutItem","kind":"error"}}`:                         "fault: there is text after the JSON object",
		`{"op":"PutItem","kind":"drop-ack","colour":"red"}`:        `unknown field "colour"`,
		`{"op":"PutItem","kind":"explode"}`:                        `unknown kind "explode"`,
		`{"op":"Put","kind":"error"}`:                              `unknown call "Put"`,
		`{"op":"PutItem","kind":"error","ms":5}`:                   "fault: ms is 5; it goes with the kind delay alone",
		`{"op":"PutItem","kind":"drop-ack","ms":-5}`:               "fault: ms is -5; it goes with the kind delay alone",
		`{"op":"PutItem","kind":"delay"}`:                          "fault: ms is 0; a delay takes 1 to 900000",
		`{"op":"PutItem","kind":"delay","ms":-1}`:                  "fault: ms is -1; a delay takes 1 to 900000",
		`{"op":"PutItem","kind":"delay","ms":900001}`:              "fault: ms is 900001; a delay takes 1 to 900000",
		`{"op":"PutItem","kind":"delay","ms":9223372036854775807}`: "fault: ms is 9223372036854775807; a delay takes 1 to 900000",
		`{"op":"PutItem","kind":"error","nth":0}`:                  "fault: nth is 0; the first call is 1",
		`{"op":"PutItem","kind":"error","nth":-1}`:                 "fault: nth is -1; the first call is 1",
		`{"op":"PutItem","kind":"error","times":0}`:                "fault: times is 0; once is 1, and -1 lasts until a reset",
		`{"op":"PutItem","kind":"error","table":"Items"}`:          `fault: the template has no table "Items"; its tables are sandbox-Items`,
	} {
		res, err := http.Post(shared.URL()+"/_sandbox/fault", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		var out map[string]string
		err = json.NewDecoder(res.Body).Decode(&out)
		res.Body.Close()
		if res.StatusCode != 400 || err != nil || !strings.Contains(out["message"], want) || strings.ContainsAny(out["message"], "\n{") {
			t.Errorf("%s: %d %v %v, want 400 and one line with %q", body, res.StatusCode, out, err, want)
		}
	}
}

func TestFaultsThatAreTaken(t *testing.T) {
	defer shared.fake.Reset()
	for _, body := range []string{
		`{"op":"PutItem","kind":"drop-ack"}`, "{\"kind\":\"throttle\"}\n ", `{"op":"PutItem","nth":1,"times":1,"kind":"error","ms":0}`,
		`{"op":"PutItem","kind":"delay","ms":1}`, `{"op":"PutItem","kind":"delay","ms":900000}`,
		`{"op":"PutItem","kind":"error","table":"sandbox-Items","times":-1}`, `{"kind":"error","table":""}`,
	} {
		controlCall(t, "POST", "/_sandbox/fault", body, nil)
	}
}

func TestFaultsReachTheDatabase(t *testing.T) {
	client := dynamodb.New(dynamodb.Options{
		Region: localRegion, BaseEndpoint: &shared.services.database, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
	})
	get := func() error {
		_, err := client.GetItem(context.Background(), &dynamodb.GetItemInput{
			TableName: aws.String("sandbox-Items"), Key: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "x"}},
		})
		return err
	}
	controlCall(t, "POST", "/_sandbox/reset", "", nil)
	controlCall(t, "POST", "/_sandbox/fault", `{"op":"GetItem","nth":2,"kind":"error"}`, nil)
	if first, second, third := get(), get(), get(); first != nil || second == nil || third != nil {
		t.Errorf("first %v, second %v, third %v", first, second, third)
	}
	var stats struct {
		DynamoDB  map[string]int `json:"dynamodb"`
		ReadUnits float64        `json:"read_units"`
	}
	controlCall(t, "GET", "/_sandbox/stats", "", &stats)
	if stats.DynamoDB["GetItem"] != 3 || stats.ReadUnits <= 0 {
		t.Errorf("%+v", stats)
	}
	controlCall(t, "POST", "/_sandbox/fault", `{"op":"GetItem","kind":"error"}`, nil)
	controlCall(t, "POST", "/_sandbox/reset", "", nil)
	if err := get(); err != nil {
		t.Errorf("after a reset: %v", err)
	}
}

func TestStatsAndFaultsNeedTheBuiltInDatabase(t *testing.T) {
	c := &control{psp: newPSP(t, "")}
	w := httptest.NewRecorder()
	c.handler().ServeHTTP(w, httptest.NewRequest("POST", "/_sandbox/fault", strings.NewReader(`{"op":"PutItem","kind":"drop-ack"}`)))
	if w.Code != 501 {
		t.Errorf("fault: %d %s", w.Code, w.Body)
	}
	w = httptest.NewRecorder()
	c.handler().ServeHTTP(w, httptest.NewRequest("GET", "/_sandbox/stats", nil))
	want := `{"cold_starts":{},"dynamodb":{"message":"` + noFake + `","status":501},"invocations":{},"psp":{"requests":0}}`
	if diff := cmp.Diff(want, w.Body.String()); diff != "" || w.Code != 200 {
		t.Errorf("stats: %d %s", w.Code, diff)
	}
	w = httptest.NewRecorder()
	c.handler().ServeHTTP(w, httptest.NewRequest("POST", "/_sandbox/reset", nil))
	if w.Code != 200 {
		t.Errorf("reset: %d %s", w.Code, w.Body)
	}
}

func TestChargesRoute(t *testing.T) {
	req, err := http.NewRequest("POST", shared.services.provider+"/charges", strings.NewReader(`{"amount":5,"currency":"EUR","source":"tok_ok","reference":"by hand"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+shared.psp.secret)
	req.Header.Set("Idempotency-Key", "by hand")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	var charges []map[string]any
	controlCall(t, "GET", "/_sandbox/psp/charges?reference=by+hand", "", &charges)
	if len(charges) != 1 || charges[0]["amount"] != 5.0 || charges[0]["attempts"] != 1.0 || charges[0]["currency"] != "EUR" || charges[0]["id"] == "" {
		t.Errorf("%v", charges)
	}
	charges = nil
	controlCall(t, "GET", "/_sandbox/psp/charges?reference=never", "", &charges)
	if charges == nil || len(charges) != 0 {
		t.Errorf("%v, want an empty array", charges)
	}
}
