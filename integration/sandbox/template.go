package sandbox

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// template is what a SAM template asks for, as far as the sandbox runs it.
type template struct {
	dir        string // where the template lies; code paths are relative to it
	functions  []function
	tables     []table
	routes     []route
	authorizer *authorizerSpec // nil: the API has none
}

// function is one AWS::Serverless::Function.
type function struct {
	id       string // logical id, and the function's name on this machine
	codeDir  string
	handler  string
	memoryMB int
	timeout  time.Duration
	jsonLogs bool
	env      map[string]string
}

// authorizerSpec is the JWT authorizer of an AWS::Serverless::HttpApi.
type authorizerSpec struct {
	issuer   string
	audience []string
}

// inert are the resource types that mean nothing on one machine: a template may have them, and they can be Ref'ed.
var inert = []string{"AWS::CloudWatch::", "AWS::IAM::", "AWS::KMS::", "AWS::Logs::", "AWS::SNS::Topic", "AWS::SSM::"}

func isInert(resourceType string) bool {
	return slices.ContainsFunc(inert, func(prefix string) bool { return strings.HasPrefix(resourceType, prefix) })
}

// templateInput is what a template is read with.
type templateInput struct {
	file   string
	region string
	given  map[string]string // parameters from the command line: each must exist
	local  map[string]string // parameters that the sandbox gives where a template has them
}

// loadTemplate reads a template file. Its errors are one line that starts with file:line.
func loadTemplate(in templateInput) (*template, error) {
	text, err := os.ReadFile(in.file)
	if err != nil {
		return nil, err
	}
	t, err := readTemplate(text, in)
	var at *lineError
	switch {
	case errors.As(err, &at):
		return nil, fmt.Errorf("%s:%w", in.file, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", in.file, err)
	}
	return t, nil
}

// readTemplate goes over a template twice: names first, since resources refer to each other in any order, then what
// each resource asks for.
func readTemplate(text []byte, in templateInput) (*template, error) {
	root, err := parseTemplate(text)
	if err != nil {
		return nil, err
	}
	if err := root.only("the template", "AWSTemplateFormatVersion", "Transform", "Description", "Metadata", "Parameters",
		"Globals", "Resources", "Outputs"); err != nil {
		return nil, err
	}
	resources := root.get("Resources")
	if resources == nil || resources.kind != objectNode {
		return nil, root.errorf("the template has no Resources")
	}
	r := newResolver(in.region)
	if err := r.parameters(root, in.given, in.local); err != nil {
		return nil, err
	}
	if err := r.nameResources(resources); err != nil {
		return nil, err
	}
	if err := mergeGlobals(root.get("Globals"), resources); err != nil {
		return nil, err
	}
	t := &template{dir: filepath.Dir(in.file)}
	return t, t.read(r, resources)
}

// nameResources makes each resource known to Ref and GetAtt.
func (r *resolver) nameResources(resources *node) error {
	for _, id := range resources.keys {
		res := resources.fields[id]
		kind := res.get("Type")
		if kind == nil || kind.kind != scalarNode {
			return res.errorf("resource %s has no Type", id)
		}
		region := r.refs["AWS::Region"]
		switch {
		case kind.text == "AWS::Serverless::Function":
			r.refs[id] = id
			r.attrs[id] = map[string]string{"Arn": functionARN(region, id)}
		case kind.text == "AWS::DynamoDB::Table":
			name, err := r.textOr(res.get("Properties").get("TableName"), localStack+"-"+id)
			if err != nil {
				return err
			}
			r.refs[id] = name
			r.attrs[id] = map[string]string{"Arn": fmt.Sprintf("arn:aws:dynamodb:%s:%s:table/%s", region, localAccount, name)}
		case kind.text == "AWS::Serverless::HttpApi" || isInert(kind.text):
			r.refs[id] = localStack + "-" + id
		default:
			return kind.errorf("resource %s: the sandbox does not support the type %s", id, kind.text)
		}
	}
	return nil
}

func functionARN(region, name string) string {
	return fmt.Sprintf("arn:aws:lambda:%s:%s:function:%s", region, localAccount, name)
}

// read fills t from the resources, in the order written.
func (t *template) read(r *resolver, resources *node) error {
	api, err := t.readAPI(r, resources)
	if err != nil {
		return err
	}
	for _, id := range resources.keys {
		res := resources.fields[id]
		if err := res.only("resource "+id, "Type", "Properties", "DependsOn", "Metadata", "DeletionPolicy", "UpdateReplacePolicy"); err != nil {
			return err
		}
		switch res.get("Type").text {
		case "AWS::Serverless::Function":
			err = t.readFunction(r, api, id, res)
		case "AWS::DynamoDB::Table":
			var tb table
			tb, err = readTable(r, id, res)
			t.tables = append(t.tables, tb)
		}
		if err != nil {
			return err
		}
	}
	if len(t.functions) == 0 {
		return resources.errorf("the template has no AWS::Serverless::Function")
	}
	return checkRoutes(t.routes)
}

func (t *template) readFunction(r *resolver, api *apiSpec, id string, res *node) error {
	p := res.get("Properties")
	if err := checkFunction(id, res, p); err != nil {
		return err
	}
	f := function{id: id, codeDir: t.dir, jsonLogs: false}
	dir, err := r.textOr(p.get("CodeUri"), ".")
	if err != nil {
		return err
	}
	f.codeDir = filepath.Join(t.dir, dir)
	if f.handler, err = r.textOr(p.get("Handler"), "bootstrap"); err != nil {
		return err
	}
	if f.memoryMB, err = r.number(p.get("MemorySize"), 128); err != nil {
		return err
	}
	seconds, err := r.number(p.get("Timeout"), 3)
	if err != nil {
		return err
	}
	if seconds < 1 || seconds > 900 {
		return p.get("Timeout").errorf("function %s: Timeout %d is not between 1 and 900 s", id, seconds)
	}
	f.timeout = time.Duration(seconds) * time.Second
	if format := p.get("LoggingConfig").get("LogFormat"); format != nil {
		f.jsonLogs = format.text == "JSON"
	}
	if f.env, err = readEnv(r, id, p.get("Environment")); err != nil {
		return err
	}
	t.functions = append(t.functions, f)
	return t.readEvents(r, api, id, p.get("Events"))
}

// checkFunction refuses what would run differently here than on Lambda. Policies, tags, tracing, log groups and the
// like are left out on purpose: they change nothing that a caller of the function sees.
func checkFunction(id string, res, p *node) error {
	if err := p.only("function "+id, "Architectures", "CodeUri", "Description", "Environment", "Events", "FunctionName",
		"Handler", "LoggingConfig", "MemorySize", "Policies", "ReservedConcurrentExecutions", "Role", "Runtime", "Tags",
		"Timeout", "Tracing"); err != nil {
		return err
	}
	if rt := p.get("Runtime"); rt == nil || !strings.HasPrefix(rt.text, "provided.") {
		return res.errorf("function %s: the sandbox runs the runtimes provided.al2023 and provided.al2 alone", id)
	}
	if m := res.get("Metadata").get("BuildMethod"); m == nil || m.text != "makefile" {
		return res.errorf("function %s: the sandbox builds by make alone: set Metadata: BuildMethod: makefile", id)
	}
	return nil
}

func readEnv(r *resolver, id string, environment *node) (map[string]string, error) {
	if err := environment.only("function "+id+": Environment", "Variables"); err != nil {
		return nil, err
	}
	env := map[string]string{}
	vars := environment.get("Variables")
	if vars == nil {
		return env, nil
	}
	for _, name := range vars.keys {
		v, err := r.text(vars.fields[name])
		if err != nil {
			return nil, err
		}
		env[name] = v
	}
	return env, nil
}

// mergeGlobals lays the properties of Globals under those of each resource of the kind, as SAM does: mappings are
// merged, anything else of the resource wins.
func mergeGlobals(globals, resources *node) error {
	if err := globals.only("Globals", "Function", "HttpApi"); err != nil || globals == nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(resources.fields)) {
		res := resources.fields[id]
		section := globals.get(strings.TrimPrefix(res.get("Type").text, "AWS::Serverless::"))
		if section == nil {
			continue
		}
		if res.get("Properties") == nil {
			res.fields["Properties"] = &node{line: res.line, kind: objectNode, fields: map[string]*node{}}
		}
		underlay(res.fields["Properties"], section)
	}
	return nil
}

func underlay(own, base *node) {
	for _, k := range base.keys {
		switch mine := own.fields[k]; {
		case mine == nil:
			own.keys = append(own.keys, k)
			own.fields[k] = base.fields[k].clone()
		case mine.kind == objectNode && base.fields[k].kind == objectNode:
			underlay(mine, base.fields[k])
		}
	}
}

// clone copies mappings, which underlay changes; the rest is shared.
func (n *node) clone() *node {
	c := *n
	if n.kind != objectNode {
		return &c
	}
	c.keys, c.fields = slices.Clone(n.keys), map[string]*node{}
	for k, v := range n.fields {
		c.fields[k] = v.clone()
	}
	return &c
}
