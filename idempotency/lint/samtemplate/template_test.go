package samtemplate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// read reads a template beside some files, and returns its routes as lines, and its notes.
func read(t *testing.T, text string, files map[string]string) (*Template, []string, []string) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "template.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	template, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	var routes, notes []string
	for _, f := range template.Functions {
		rel, err := filepath.Rel(dir, f.Dir)
		if f.Dir == "" || err != nil {
			rel = "?"
		}
		for _, r := range f.Routes {
			routes = append(routes, fmt.Sprintf("%s %s:%d %s", f.ID, rel, r.Line, r))
		}
	}
	for _, n := range template.Notes {
		notes = append(notes, fmt.Sprintf("%d: %s", n.Line, strings.ReplaceAll(n.Text, dir, "DIR")))
	}
	return template, routes, notes
}

var goFile = map[string]string{"fn/main.go": "package main\n"}

func TestRoutes(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		want  []string
		notes []string
	}{
		"events": {`Resources:
  F:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: fn
      Events:
        A: {Type: HttpApi, Properties: {Method: post, Path: /a}}
        B: {Type: Api, Properties: {Method: PATCH, Path: "/b/{id}"}}
        C:
          Type: HttpApi
        D: {Type: HttpApi, Properties: {Path: /d}}
        E: {Type: Api, Properties: {Method: any, Path: /e}}
        F: {Type: HttpApi, Properties: {Method: x-amazon-apigateway-any-method, Path: /f}}
        S: {Type: SQS, Properties: {Queue: !GetAtt Q.Arn}}
      FunctionUrlConfig: {AuthType: NONE}
`, []string{"F fn:15 ANY of its function URL", "F fn:7 POST /a", "F fn:8 PATCH /b/{id}", "F fn:9 ANY $default", "F fn:11 ANY /d",
			"F fn:12 ANY /e", "F fn:13 ANY /f"}, nil},

		"globals and anchors": {`Globals:
  Function:
    CodeUri: fn
    Environment: {Variables: {A: b}}
X: &route {Method: POST, Path: /x}
Resources:
  F:
    Type: AWS::Serverless::Function
    Properties:
      Environment: {Variables: {C: d}}
      Events:
        A: {Type: HttpApi, Properties: *route}
        B:
          Type: HttpApi
          Properties:
            <<: *route
            Path: /y
`, []string{"F fn:5 POST /x", "F fn:5 POST /y"}, nil},

		"openapi": {`Resources:
  F:
    Type: AWS::Serverless::Function
    Properties: {CodeUri: fn}
  A:
    Type: AWS::Serverless::HttpApi
    Properties:
      DefinitionBody:
        openapi: 3.0.1
        paths:
          /orders:
            parameters: []
            post:
              x-amazon-apigateway-integration:
                type: aws_proxy
                uri: !Sub arn:${AWS::Partition}:apigateway:${AWS::Region}:lambda:path/2015-03-31/functions/${F.Arn}/invocations
            get:
              x-amazon-apigateway-integration:
                uri: {"Fn::Sub": ["arn:${Function}/invocations", {"Function": {"Fn::GetAtt": [F, Arn]}}]}
          /any:
            x-amazon-apigateway-any-method:
              x-amazon-apigateway-integration:
                uri: {"Fn::Join": ["", [arn, {Ref: F}]]}
          /elsewhere:
            post: {x-amazon-apigateway-integration: {type: http_proxy, uri: "https://example.com"}}
          /imported:
            post: {x-amazon-apigateway-integration: {type: aws_proxy, uri: "arn:aws:lambda:1:2:function:F"}}
          /none:
            post: {}
          /ref:
            $ref: "#/x"
`, []string{"F fn:13 POST /orders", "F fn:17 GET /orders", "F fn:21 ANY /any"},
			[]string{"27: POST /imported of A: the uri of its integration names no single function of this template",
				"29: POST /none of A has no integration of its own", "30: path /ref of A is defined elsewhere"}},

		"json": {"{\n\t\"Resources\": {\n\t\t\"F\": {\"Type\": \"AWS::Serverless::Function\", \"Properties\": {\"CodeUri\": \"fn\",\n" +
			"\t\t\t\"Events\": {\"A\": {\"Type\": \"Api\", \"Properties\": {\n\t\t\t\t\"Method\": \"POST\", \"Path\": \"/a\"}}}}}\n\t}\n}\n",
			[]string{"F fn:5 POST /a"}, nil},

		"intrinsics and unknown things": {`Resources:
  F:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: fn
      Events:
        A: {Type: HttpApi, Properties: {Method: !Ref Method, Path: /a}}
        B: {Type: HttpApi, Properties: {Method: POST, Path: !Sub "/${Stage}"}}
        C: {Type: !Ref Kind}
        D: {Type: HttpApi, Properties: {Method: POST, Path: /d}}
  G:
    Type: AWS::Serverless::Function
    Properties:
      Events: !If [Prod, {}, {}]
  H:
    Type: AWS::Serverless::Function
    Properties: {"Fn::Transform": {Name: AWS::Include}}
  I: {Type: AWS::Serverless::Api, Properties: {DefinitionUri: api.yaml}}
  J: {Type: AWS::Serverless::Api, Properties: {DefinitionBody: {"Fn::Transform": {Name: AWS::Include}}}}
  K: {Type: AWS::Serverless::Application}
  L: {Type: AWS::ApiGatewayV2::Route}
  M: {Type: Acme::Thing}
  N: {}
  O: {Type: AWS::DynamoDB::Table}
  P: {Type: Custom::Thing}
  Fn::ForEach::Loop: []
`, []string{"F fn:10 POST /d"}, []string{
			"7: event A of F: its method or path is no plain text", "8: event B of F: its method or path is no plain text",
			"9: event C of F has no plain type", "14: the events of G come from Fn::If", "17: the properties of H come from Fn::Transform",
			"18: the OpenAPI body of I is in another file: its routes are not read",
			"19: the OpenAPI body of J is in another file: its routes are not read", "20: the routes of K are in another template: check that one too",
			"21: L is an AWS::ApiGatewayV2::Route, which is not followed to its function", `22: M has the unknown type "Acme::Thing"`,
			`23: N has the unknown type ""`, "26: the resources that Fn::ForEach::Loop makes are not known here"}},

		"no resources": {"Transform: AWS::Serverless-2016-10-31\n", nil, []string{"1: the template has no Resources"}},
	} {
		t.Run(name, func(t *testing.T) {
			template, routes, notes := read(t, c.text, goFile)
			if diff := cmp.Diff(c.want, routes); diff != "" {
				t.Errorf("routes (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.notes, notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
			if template.Whole != (len(notes) == 0) {
				t.Errorf("Whole is %v", template.Whole)
			}
		})
	}
}

// TestPackages says where functions are built from.
func TestPackages(t *testing.T) {
	const makefile = `# build
GO := go
build-A build-B: export X = 1
	@echo building
	CGO_ENABLED=0 GOOS=linux \
		go build -trimpath -ldflags '-s -w' -o $(ARTIFACTS_DIR)/bootstrap ./cmd/a
build-C:
	cd cmd/c && $(GO) build -o $(ARTIFACTS_DIR)/bootstrap
build-D:
	go build -C cmd/d -tags lambda.norpc -o bootstrap main.go
build-E:
	go build -o bootstrap ./cmd/$(NAME)
build-F:
	./build.sh
build-G: build-A
`
	for id, want := range map[string]string{
		"A": "cmd/a", "B": "cmd/a", "C": "cmd/c", "D": "cmd/d",
		"E": "! its recipe builds ./cmd/$(NAME), which is not followed",
		"F": "! its recipe has no go build that is understood",
		"G": "! its recipe has no go build that is understood",
		"H": "! there is neither a Go package nor a recipe for make in .",
	} {
		text := `Resources:
  ` + id + `:
    Type: AWS::Serverless::Function
    Metadata: {BuildMethod: makefile}
    Properties: {CodeUri: ., Events: {E: {Type: HttpApi}}}
`
		template, _, notes := read(t, text, map[string]string{"Makefile": makefile})
		got, err := filepath.Rel(filepath.Dir(template.File), template.Functions[0].Dir)
		if template.Functions[0].Dir == "" || err != nil {
			got = "! " + strings.TrimSuffix(strings.TrimPrefix(notes[0], "2: "+id+": "), ", so its package is not known")
		}
		if got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
}

func TestCodeUri(t *testing.T) {
	for properties, want := range map[string]string{
		"CodeUri: fn":                       "",
		"CodeUri: ./fn/":                    "",
		"CodeUri: s3://bucket/key":          "its CodeUri is no directory",
		"CodeUri: !Ref Code":                "its CodeUri is no directory",
		"CodeUri: {Bucket: b, Key: k}":      "its CodeUri is no directory",
		"CodeUri: nowhere":                  "there is neither a Go package nor a recipe for make in nowhere",
		"MemorySize: 1":                     "there is neither a Go package nor a recipe for make in .",
		"PackageType: Image":                "it is built as a container image",
		"InlineCode: 'exports.handler = 1'": "its CodeUri is no directory",
	} {
		text := "Resources:\n  F:\n    Type: AWS::Serverless::Function\n    Properties:\n      " + properties +
			"\n      Events: {E: {Type: HttpApi}}\n"
		_, _, notes := read(t, text, goFile)
		got := strings.TrimSuffix(strings.TrimPrefix(strings.Join(notes, "|"), "2: F: "), ", so its package is not known")
		if got != want {
			t.Errorf("%s: %q, want %q", properties, got, want)
		}
	}
}

func TestNotATemplate(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "1: the template is empty",
		"[]":                      "1: a template is a mapping",
		"a: [":                    "1: ",
		"a: 1\nb: \"\nc: }":       ": ",
		"Resources: {F: &a [*a]}": "",
	} {
		file := filepath.Join(t.TempDir(), "template.yaml")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Read(file)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%q: %v, want %q in one line", text, err, want)
		}
	}
}

// FuzzTemplate reads any text: an error or a template, and neither panics nor hangs.
func FuzzTemplate(f *testing.F) {
	f.Add("Resources: {F: {Type: AWS::Serverless::Function, Properties: {Events: {A: {Type: HttpApi}}}}}")
	f.Add("Resources: {A: {Type: AWS::Serverless::Api, Properties: {DefinitionBody: {paths: {/a: {post: {x-amazon-apigateway-integration: {uri: !Sub '${F}'}}}}}}}}")
	f.Add("a: &a {<<: *a, b: [*a, *a]}\nResources: *a")
	f.Add("Globals: {Function: 1}\nResources: {F: {Type: AWS::Serverless::Function, Properties: []}}")
	f.Fuzz(func(t *testing.T, text string) {
		root, err := parse(text)
		if err != nil {
			return
		}
		s := survey{template: &Template{Text: []byte(text)}, dir: t.TempDir(), functions: map[string]*Function{}}
		s.read(root)
	})
}
