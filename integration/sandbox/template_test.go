package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// frame puts resources, indented by two, into a template with one good function in line 4.
func frame(rest string) string {
	return `Parameters: {P: {Type: String, Default: pv}}
Resources:
  F:
    Type: AWS::Serverless::Function
    Metadata: {BuildMethod: makefile}
    Properties: {CodeUri: ., Runtime: provided.al2023}
` + rest
}

func read(text string, given map[string]string) (*template, error) {
	return readTemplate([]byte(text), templateInput{file: "t/template.yaml", region: localRegion, given: given, local: map[string]string{"Local": "lv"}})
}

func TestTemplateErrorsAreOneLineWithTheirPlace(t *testing.T) {
	fn := func(properties string) string {
		return "Resources:\n  F:\n    Type: AWS::Serverless::Function\n    Metadata: {BuildMethod: makefile}\n    Properties:\n      Runtime: provided.al2023\n" + properties
	}
	for name, tt := range map[string]struct{ text, want string }{
		"not YAML":            {"a: [1\n", "1: sequence end token"},
		"empty":               {"", "1: a template is one YAML document"},
		"a list":              {"- a\n", "1: a template is a mapping"},
		"duplicate key":       {"a: 1\na: 2\n", `2: mapping key "a" already defined`},
		"alias":               {frame("Outputs: *x\n"), "7: the sandbox does not support a YAML Alias here"},
		"unknown section":     {frame("Rules: {}\n"), "7: the template: the sandbox does not support Rules"},
		"no resources":        {"Outputs: {}\n", "the template has no Resources"},
		"no function":         {"Resources: {L: {Type: AWS::Logs::LogGroup}}\n", "no AWS::Serverless::Function"},
		"unknown type":        {frame("  Q:\n    Type: AWS::Kinesis::Stream\n"), "8: resource Q: the sandbox does not support the type AWS::Kinesis::Stream"},
		"no type":             {frame("  Q:\n    Properties: {}\n"), "7: resource Q has no Type"},
		"condition":           {frame("  T:\n    Type: AWS::Logs::LogGroup\n    Condition: C\n"), "9: resource T: the sandbox does not support Condition"},
		"parameter missing":   {"Parameters:\n  X:\n    Type: String\nResources: {}\n", "2: parameter X has no default: pass -param X=VALUE"},
		"parameter's type":    {"Parameters:\n  X:\n    Type: CommaDelimitedList\nResources: {}\n", "2: parameter X: the sandbox supports the types"},
		"parameter's pattern": {"Parameters:\n  X:\n    Type: String\n    Default: b\n    AllowedPattern: a+\nResources: {}\n", `5: parameter X: "b" does not match its AllowedPattern`},
		"parameter's values":  {"Parameters:\n  X:\n    Type: String\n    Default: b\n    AllowedValues: [a, c]\nResources: {}\n", `5: parameter X: "b" is not one of its AllowedValues`},
		"parameter too small": {"Parameters:\n  X:\n    Type: Number\n    Default: 2\n    MinValue: 3\nResources: {}\n", "5: parameter X: 2 is less than its MinValue 3"},
		"parameter too big":   {"Parameters:\n  X:\n    Type: Number\n    Default: 29\n    MaxValue: 28\nResources: {}\n", "5: parameter X: 29 is more than its MaxValue 28"},
		"not a number":        {"Parameters:\n  X:\n    Type: Number\n    Default: many\nResources: {}\n", `2: parameter X: "many" is not a number`},
		"unreadable pattern":  {"Parameters:\n  X:\n    Type: String\n    Default: b\n    AllowedPattern: (?=a)\nResources: {}\n", "5: parameter X: the sandbox cannot read its AllowedPattern"},
		"layers":              {fn("      Layers: []\n"), "7: function F: the sandbox does not support Layers"},
		"other runtime":       {strings.Replace(fn(""), "provided.al2023", "python3.14", 1), "2: function F: the sandbox runs the runtimes provided.al2023"},
		"no build method":     {strings.Replace(fn(""), "makefile", "esbuild", 1), "2: function F: the sandbox builds by make alone"},
		"timeout a word":      {fn("      Timeout: soon\n"), `7: "soon" is not a whole number`},
		"function's name":     {fn("      FunctionName: x\n"), "7: function F: the sandbox does not support FunctionName"},
		"timeout too long":    {fn("      Timeout: 901\n"), "7: function F: Timeout 901 is not between 1 and 900 s"},
		"unknown ref":         {fn("      Environment: {Variables: {A: !Ref Nowhere}}\n"), "7: Ref Nowhere: the sandbox knows no parameter or resource"},
		"unknown attribute":   {fn("      Environment: {Variables: {A: !GetAtt F.Version}}\n"), "7: GetAtt F.Version: the sandbox does not know that attribute"},
		"unknown function":    {fn("      Environment: {Variables: {A: !ImportValue x}}\n"), "7: the sandbox does not support the function ImportValue here"},
		"in a Sub":            {fn("      Environment: {Variables: {A: !Sub 'x${Nope}'}}\n"), "7: Ref Nope"},
		"a mapping for text":  {fn("      Environment: {Variables: {A: {b: c}}}\n"), "7: a single value is expected here"},
		"event type":          {fn("      Events:\n        E:\n          Type: Schedule\n"), "8: function F, event E: the sandbox supports events of the types HttpApi and DynamoDB"},
		"payload version":     {fn("      Events: {E: {Type: HttpApi, Properties: {Path: /x, Method: GET, PayloadFormatVersion: '1.0'}}}\n"), "7: function F, event E: the sandbox supports PayloadFormatVersion 2.0"},
		"path":                {fn("      Events: {E: {Type: HttpApi, Properties: {Path: x, Method: GET}}}\n"), `7: the path "x" does not start with /`},
		"greedy in front":     {fn("      Events: {E: {Type: HttpApi, Properties: {Path: '/{a+}/b', Method: GET}}}\n"), `7: the path "/{a+}/b" has {a+} before its end`},
		"route twice":         {fn("      Events:\n        A: {Type: HttpApi, Properties: {Path: /x, Method: GET}}\n        B: {Type: HttpApi, Properties: {Path: /x, Method: get}}\n"), `9: a second event has the route "GET /x"`},
		"another API":         {fn("      Events: {E: {Type: HttpApi, Properties: {ApiId: !Ref Other, Path: /x, Method: GET}}}\n"), "7: function F, event E: ApiId must be a Ref of the template's API"},
		"no such authorizer":  {fn("      Events: {E: {Type: HttpApi, Properties: {Path: /x, Method: GET, Auth: {Authorizer: Lost}}}}\n"), "7: function F, event E: there is no authorizer Lost"},
		"two APIs":            {frame("  A: {Type: AWS::Serverless::HttpApi}\n  B: {Type: AWS::Serverless::HttpApi}\n"), "8: the sandbox serves one AWS::Serverless::HttpApi, and B is the second"},
		"two authorizers":     {frame("  A: {Type: AWS::Serverless::HttpApi, Properties: {Auth: {Authorizers: {X: {}, Y: {}}}}}\n"), "7: the sandbox supports exactly one authorizer"},
		"no issuer":           {frame("  A: {Type: AWS::Serverless::HttpApi, Properties: {Auth: {Authorizers: {X: {JwtConfiguration: {}}}}}}\n"), "7: authorizer X: JwtConfiguration needs issuer and audience"},
		"identity source":     {frame("  A: {Type: AWS::Serverless::HttpApi, Properties: {Auth: {Authorizers: {X: {IdentitySource: $request.querystring.t}}}}}\n"), "7: authorizer X: the sandbox reads tokens from"},
		"default authorizer":  {frame("  A: {Type: AWS::Serverless::HttpApi, Properties: {Auth: {DefaultAuthorizer: Y, Authorizers: {X: {}}}}}\n"), "7: there is no authorizer Y"},
		"CORS":                {frame("  A: {Type: AWS::Serverless::HttpApi, Properties: {CorsConfiguration: {}}}\n"), "7: API A: the sandbox does not support CorsConfiguration"},
		"table's stream":      {frame("  T: {Type: AWS::DynamoDB::Table, Properties: {AttributeDefinitions: [], KeySchema: [], StreamSpecification: {}}}\n"), "7: StreamViewType is needed here"},
		"table without keys":  {frame("  T: {Type: AWS::DynamoDB::Table, Properties: {}}\n"), "7: table T: KeySchema and AttributeDefinitions are needed"},
		"key without a name":  {frame("  T: {Type: AWS::DynamoDB::Table, Properties: {AttributeDefinitions: [], KeySchema: [{KeyType: HASH}]}}\n"), "7: AttributeName is needed here"},
		"index without keys":  {frame("  T: {Type: AWS::DynamoDB::Table, Properties: {AttributeDefinitions: [], KeySchema: [], GlobalSecondaryIndexes: [{IndexName: i}]}}\n"), "7: index i: KeySchema and Projection are needed"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(tt.text, nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error %v, want %q in it", err, tt.want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
		})
	}
}

func TestTemplateErrorNamesTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(file, []byte(frame("  Q:\n    Type: AWS::Kinesis::Stream\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := loadTemplate(templateInput{file: file})
	if err == nil || !strings.HasPrefix(err.Error(), file+":8: resource Q") {
		t.Errorf("error %v", err)
	}
	if _, err := loadTemplate(templateInput{file: file + "x"}); err == nil || !strings.Contains(err.Error(), file+"x") {
		t.Errorf("error %v", err)
	}
}

func TestResolve(t *testing.T) {
	for expr, want := range map[string]string{
		"plain":                                  "plain",
		"12":                                     "12",
		"true":                                   "true",
		"'quoted'":                               "quoted",
		"!Ref P":                                 "pv",
		"{Ref: P}":                               "pv",
		"!Ref Local":                             "lv",
		"!Ref AWS::Region":                       "us-east-1",
		"!Ref T":                                 "sandbox-T",
		"!Ref Named":                             "my-pv",
		"!GetAtt T.Arn":                          "arn:aws:dynamodb:us-east-1:000000000000:table/sandbox-T",
		"!GetAtt [T, Arn]":                       "arn:aws:dynamodb:us-east-1:000000000000:table/sandbox-T",
		"{'Fn::GetAtt': [T, Arn]}":               "arn:aws:dynamodb:us-east-1:000000000000:table/sandbox-T",
		"!GetAtt F.Arn":                          "arn:aws:lambda:us-east-1:000000000000:function:F",
		"!Ref F":                                 "F",
		"!Sub 'a-${P}-${T.Arn}'":                 "a-pv-arn:aws:dynamodb:us-east-1:000000000000:table/sandbox-T",
		"!Sub '${!P} ${AWS::AccountId} $ {P}'":   "${P} 000000000000 $ {P}",
		"!Sub ['${x}-${P}', {x: !Ref T}]":        "sandbox-T-pv",
		"{'Fn::Sub': '${P}'}":                    "pv",
		"!Join ['/', [a, !Ref P, {Ref: Local}]]": "a/pv/lv",
	} {
		text := "Parameters: {P: {Type: String, Default: pv}, Local: {Type: String}}\nResources:\n" +
			"  F:\n    Type: AWS::Serverless::Function\n    Metadata: {BuildMethod: makefile}\n" +
			"    Properties:\n      Runtime: provided.al2023\n      Environment:\n        Variables:\n          V: " + expr + "\n" +
			"  T: {Type: AWS::DynamoDB::Table, Properties: {AttributeDefinitions: [{AttributeName: a, AttributeType: S}], KeySchema: [{AttributeName: a, KeyType: HASH}]}}\n" +
			"  Named: {Type: AWS::DynamoDB::Table, Properties: {TableName: !Sub 'my-${P}', AttributeDefinitions: [], KeySchema: []}}\n"
		tpl, err := read(text, nil)
		if err != nil {
			t.Errorf("%s: %v", expr, err)
			continue
		}
		if got := tpl.functions[0].env["V"]; got != want {
			t.Errorf("%s is %q, want %q", expr, got, want)
		}
	}
}

func TestParametersGiven(t *testing.T) {
	text := strings.Replace(frame(""), "Properties: {", "Properties: {Environment: {Variables: {V: !Ref P}}, ", 1)
	tpl, err := read(text, map[string]string{"P": "given"})
	if err != nil || tpl.functions[0].env["V"] != "given" {
		t.Errorf("%+v, error %v", tpl, err)
	}
	if _, err := read(text, map[string]string{"Q": "x"}); err == nil || !strings.Contains(err.Error(), "no parameter Q") {
		t.Errorf("error %v", err)
	}
}

func TestGlobalsLieUnder(t *testing.T) {
	tpl, err := read(`
Globals:
  Function:
    Timeout: 7
    Runtime: provided.al2023
    Environment: {Variables: {A: global, B: global}}
Resources:
  F:
    Type: AWS::Serverless::Function
    Metadata: {BuildMethod: makefile}
    Properties: {MemorySize: 256, ReservedConcurrentExecutions: 5, Environment: {Variables: {B: own}}}
  G:
    Type: AWS::Serverless::Function
    Metadata: {BuildMethod: makefile}
    Properties: {Timeout: 9}
`, nil)
	if err != nil {
		t.Fatal(err)
	}
	f, g := tpl.functions[0], tpl.functions[1]
	if f.timeout != 7*time.Second || f.memoryMB != 256 || f.concurrency != 5 || g.timeout != 9*time.Second || g.memoryMB != 128 || g.concurrency != maxProcesses {
		t.Errorf("%+v %+v", f, g)
	}
	if diff := cmp.Diff(map[string]string{"A": "global", "B": "own"}, f.env); diff != "" || g.env["B"] != "global" {
		t.Errorf("%s %v", diff, g.env)
	}
}

// The project's own template, as far as the sandbox and the functions rely on it.
func TestProjectTemplate(t *testing.T) {
	const arn = "arn:aws:secretsmanager:us-east-1:000000000000:secret:sandbox-provider-AbCdEf"
	tpl, err := loadTemplate(templateInput{file: "../../template.yaml", region: localRegion, local: map[string]string{
		"JwtIssuer": localIssuer, "JwtAudience": localAudience, "ProviderUrl": "http://127.0.0.1:9", "ProviderSecretArn": arn,
	}})
	if err != nil {
		t.Fatal(err)
	}
	f := tpl.functions[0]
	want := map[string]string{
		"IDEMPOTENCY_TABLE": "sandbox-IdempotencyTable", "PAYMENTS_TABLE": "sandbox-PaymentsTable", "OUTBOX_TABLE": "sandbox-OutboxTable",
		"PROVIDER_URL": "http://127.0.0.1:9", "PROVIDER_SECRET_ARN": arn,
		"METRICS_NAMESPACE": "firstwriter/sandbox",
	}
	if diff := cmp.Diff(want, f.env); diff != "" || f.id != "PaymentsFunction" || f.timeout != 28*time.Second || !f.jsonLogs {
		t.Errorf("%+v %s", f, diff)
	}
	var keys []string
	for _, rt := range tpl.routes {
		keys = append(keys, rt.key)
		if want := map[string]string{"payments": "PaymentsFunction", "orders": "OrdersFunction"}[rt.segments[0]]; !rt.auth || rt.function != want {
			t.Errorf("route %+v", rt)
		}
	}
	if diff := cmp.Diff([]string{"POST /payments", "GET /payments", "GET /payments/{id}", "POST /orders", "GET /orders/{id}"}, keys); diff != "" {
		t.Error(diff)
	}
	if ts := tpl.tables; len(ts) != 5 || ts[0].ttl != "expires_at" || len(ts[1].indexes) != 1 || ts[2].id != stockTable || ts[4].stream != "NEW_IMAGE" {
		t.Errorf("tables %+v", ts)
	}
	relay := mapping{function: "RelayFunction", table: "sandbox-OutboxTable", batchSize: 100, retries: -1, maxAge: 23 * time.Hour, bisect: true,
		partial: true, onFailure: "sandbox-RelayDeadLetters"}
	if len(tpl.mappings) != 1 || len(tpl.mappings[0].filters) != 1 {
		t.Fatalf("mappings %+v", tpl.mappings)
	}
	tpl.mappings[0].filters = nil
	if diff := cmp.Diff(relay, tpl.mappings[0], cmp.AllowUnexported(mapping{})); diff != "" {
		t.Error(diff)
	}
}

// Whatever is in a template, reading it ends with a template or with an error of one line.
func FuzzTemplate(f *testing.F) {
	for _, file := range []string{"../../template.yaml", "testdata/echo/template.yaml"} {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	for _, text := range []string{"Resources: {F: {Type: AWS::Serverless::Function, Properties: }}", "Globals: {Function: []}", "a: !Ref", "a: !Sub [x, {y: !Ref z}]",
		"Resources: {A: {Type: AWS::Serverless::HttpApi, Properties: {Auth: {Authorizers: {X: }}}}}", "Parameters: {P: {Type: Number, Default: }}"} {
		f.Add(text)
		f.Add(frame("  X: " + text))
	}
	given := map[string]string{"ProviderUrl": "https://p", "ProviderSecretArn": secretARN(localRegion), "JwtIssuer": "https://i", "JwtAudience": "a"}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := readTemplate([]byte(text), templateInput{file: "t.yaml", region: localRegion, local: given})
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("more than one line: %q", err)
		}
	})
}
