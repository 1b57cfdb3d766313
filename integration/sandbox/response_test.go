package sandbox

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestConvertResponse(t *testing.T) {
	plain := http.Header{"Content-Type": {"text/plain; charset=utf-8"}}
	json := http.Header{"Content-Type": {"application/json"}}
	for name, tt := range map[string]struct {
		payload string
		want    reply
	}{
		"status alone":        {`{"statusCode":204}`, reply{204, plain, nil}},
		"body":                {`{"statusCode":201,"body":"hi"}`, reply{201, plain, []byte("hi")}},
		"content type":        {`{"statusCode":200,"headers":{"content-type":"application/json"},"body":"{}"}`, reply{200, json, []byte("{}")}},
		"base64":              {`{"statusCode":200,"body":"AAE=","isBase64Encoded":true}`, reply{200, plain, []byte{0, 1}}},
		"null members":        {`{"statusCode":200,"headers":null,"cookies":null,"body":null,"multiValueHeaders":null}`, reply{200, plain, nil}},
		"cookies":             {`{"statusCode":200,"cookies":["a=1","b=2; Secure"]}`, reply{200, http.Header{"Content-Type": plain["Content-Type"], "Set-Cookie": {"a=1", "b=2; Secure"}}, nil}},
		"multi-value ignored": {`{"statusCode":200,"multiValueHeaders":{"x":["1"]}}`, reply{200, plain, nil}},
		"number as a header":  {`{"statusCode":200,"headers":{"retry-after":2,"x-b":true}}`, reply{200, http.Header{"Content-Type": plain["Content-Type"], "Retry-After": {"2"}, "X-B": {"true"}}, nil}},
		"gateway's headers":   {`{"statusCode":200,"headers":{"content-length":"9","date":"x","connection":"close"}}`, reply{200, plain, nil}},
		"no status":           {`{"id":"pay_1"}`, reply{200, json, []byte(`{"id":"pay_1"}`)}},
		"other case":          {`{"StatusCode":404}`, reply{200, json, []byte(`{"StatusCode":404}`)}},
		"a string":            {`"hi"`, reply{200, json, []byte(`"hi"`)}},
		"an array":            {`[1]`, reply{200, json, []byte(`[1]`)}},
		"null":                {`null`, reply{200, json, []byte(`null`)}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := convertResponse([]byte(tt.payload))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(reply{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMalformedResponses(t *testing.T) {
	for name, payload := range map[string]string{
		"empty":             ``,
		"not JSON":          `{`,
		"status as text":    `{"statusCode":"200"}`,
		"status null":       `{"statusCode":null}`,
		"status too small":  `{"statusCode":99}`,
		"status too big":    `{"statusCode":600}`,
		"informational":     `{"statusCode":101}`,
		"status a fraction": `{"statusCode":200.5}`,
		"body an object":    `{"statusCode":200,"body":{}}`,
		"header an object":  `{"statusCode":200,"headers":{"a":{}}}`,
		"header null":       `{"statusCode":200,"headers":{"a":null}}`,
		"headers a list":    `{"statusCode":200,"headers":[]}`,
		"cookies text":      `{"statusCode":200,"cookies":"a=1"}`,
		"not base64":        `{"statusCode":200,"body":"!","isBase64Encoded":true}`,
	} {
		t.Run(name, func(t *testing.T) {
			got, err := functionReply(outcome{payload: []byte(payload)})
			if err == nil || got.status != 500 || string(got.body) != `{"message":"Internal Server Error"}` {
				t.Errorf("%d %s, error %v", got.status, got.body, err)
			}
		})
	}
}

func TestFailuresHaveNoDetails(t *testing.T) {
	for f, want := range map[failure]int{functionErr: 500, crashed: 500, timedOut: 500, tooLarge: 500, notStarted: 500, throttled: 503} {
		got, err := functionReply(outcome{failure: f, detail: "secret", payload: []byte(`{"statusCode":200}`)})
		message := map[int]string{500: "Internal Server Error", 503: "Service Unavailable"}[want]
		if err != nil || got.status != want || string(got.body) != `{"message":"`+message+`"}` {
			t.Errorf("failure %d: %d %s %v", f, got.status, got.body, err)
		}
	}
}
