package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// template is what a SAM template asks for, as far as the sandbox runs it.
type template struct {
	dir        string // where the template lies; code paths are relative to it
	functions  []function
	tables     []table
	routes     []route
	mappings   []mapping
	buses      []string        // names of the event buses
	queues     []string        // names of the queues
	authorizer *authorizerSpec // nil: the API has none
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
		case "AWS::Events::EventBus":
			t.buses = append(t.buses, r.refs[id])
		case "AWS::SQS::Queue":
			t.queues = append(t.queues, r.attrs[id]["QueueName"])
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
