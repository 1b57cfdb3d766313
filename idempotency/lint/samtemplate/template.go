// Package samtemplate reads from an AWS SAM template which routes lead to which functions, and which Go package each
// function is built from. It decides nothing by guessing: what it cannot tell, it says in [Template].Notes, and goes on.
//
// It is the one package of the linter that needs a YAML reader.
//
// Source: docs.aws.amazon.com/serverless-application-model/latest/developerguide/sam-specification.html
package samtemplate

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Template is what a template asks for, as far as requests reach functions.
type Template struct {
	File      string     // as given
	Text      []byte     // of the file
	Functions []Function // those whose requests come by a route, in the order written
	Notes     []Note     // what could not be decided, by line
	// Whole says that every route is known: nothing in the template may add one that is not among the functions'.
	Whole bool
}

// Function is a function with its routes.
type Function struct {
	ID     string // logical id
	Line   int    // where it is declared
	Dir    string // of the main package, absolute or relative as the template's; "" if it could not be decided
	Routes []Route
}

// Route is one method and path of a function.
type Route struct {
	Method string // in capitals, "ANY" for all
	Path   string
	Line   int
	Text   string // the line, with its comment
}

// Note is one thing that could not be decided.
type Note struct {
	Line int
	Text string
}

// Writes tells whether requests of the route can have a method that changes something and has to be guarded.
func (r Route) Writes() bool { return r.Method == "POST" || r.Method == "PATCH" || r.Method == "ANY" }

// Writes tells whether a route of the function writes.
func (f Function) Writes() bool { return slices.ContainsFunc(f.Routes, Route.Writes) }

// String returns the route as API Gateway writes it, "POST /payments".
func (r Route) String() string { return r.Method + " " + r.Path }

// Read reads a template, in YAML or JSON. Its errors start with the file, and the line where there is one.
func Read(file string) (*Template, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	root, err := parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s:%w", file, err)
	}
	s := survey{
		template:  &Template{File: file, Text: text, Whole: true},
		dir:       filepath.Dir(file),
		functions: map[string]*Function{},
	}
	s.read(root)
	slices.SortStableFunc(s.template.Notes, func(a, b Note) int { return a.Line - b.Line })
	return s.template, nil
}

// survey is one reading of a template.
type survey struct {
	template  *Template
	dir       string
	functions map[string]*Function
}

// note says what could not be decided.
func (s *survey) note(at *node, format string, args ...any) {
	s.template.Notes = append(s.template.Notes, Note{Line: at.line, Text: fmt.Sprintf(format, args...)})
}

// incomplete is a note on something that may hide routes.
func (s *survey) incomplete(at *node, format string, args ...any) {
	s.template.Whole = false
	s.note(at, format, args...)
}

// read goes over the resources twice: functions first, since APIs refer to them in any order.
func (s *survey) read(root *node) {
	resources := root.get("Resources")
	if resources == nil || len(resources.keys) == 0 {
		s.incomplete(root, "the template has no Resources")
		return
	}
	globals := root.get("Globals")
	var ids []string
	resources.members(func(id string, r *node) {
		kind := r.get("Type").scalar()
		if name, ok := strings.CutPrefix(kind, "AWS::Serverless::"); ok && globals.get(name) != nil {
			r.properties().underlay(globals.get(name), true)
		}
		if kind == "AWS::Serverless::Function" {
			s.functions[id] = &Function{ID: id, Line: r.line}
			ids = append(ids, id)
		}
	})
	resources.members(func(id string, r *node) { s.resource(id, r) })
	for _, id := range ids {
		if f := s.functions[id]; len(f.Routes) > 0 {
			dir, problem := s.packageOf(id, resources.fields[id])
			if f.Dir = dir; problem != "" && f.Writes() {
				s.note(resources.fields[id], "%s: %s, so its package is not known", id, problem)
			}
			s.template.Functions = append(s.template.Functions, *f)
		}
	}
}

// properties returns a resource's properties; it makes them where there are none.
func (n *node) properties() *node {
	if n.fields == nil {
		return &node{line: n.line, fields: map[string]*node{}}
	}
	p := n.fields["Properties"]
	if p == nil || p.fields == nil && p.call == "" {
		p = &node{line: n.line, fields: map[string]*node{}}
		n.add("Properties", p)
	}
	return p
}

// resource reads the routes that one resource makes.
func (s *survey) resource(id string, r *node) {
	if strings.HasPrefix(id, "Fn::") {
		s.incomplete(r, "the resources that %s makes are not known here", id)
		return
	}
	kind := r.get("Type").scalar()
	switch kind {
	case "AWS::Serverless::Function":
		s.events(id, r)
	case "AWS::Serverless::Api", "AWS::Serverless::HttpApi", "AWS::ApiGateway::RestApi", "AWS::ApiGatewayV2::Api":
		s.api(id, r)
	case "AWS::Serverless::Application", "AWS::CloudFormation::Stack":
		s.incomplete(r, "the routes of %s are in another template: check that one too", id)
	case "AWS::ApiGateway::Method", "AWS::ApiGatewayV2::Route", "AWS::ApiGatewayV2::Integration", "AWS::Lambda::Url",
		"AWS::ElasticLoadBalancingV2::TargetGroup":
		s.incomplete(r, "%s is an %s, which is not followed to its function", id, kind)
	default:
		if provider, _, _ := strings.Cut(kind, "::"); provider != "AWS" && provider != "Custom" {
			s.incomplete(r, "%s has the unknown type %q", id, kind)
		}
	}
}
