package samtemplate

import (
	"slices"
	"strings"
)

// methods of an OpenAPI path item, and API Gateway's own for all of them.
var methods = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace", "x-amazon-apigateway-any-method"}

// api reads the routes of an API's OpenAPI body. An API without one has the routes of its functions' events.
func (s *survey) api(id string, r *node) {
	p := r.properties()
	body := p.get("DefinitionBody")
	if body == nil {
		body = p.get("Body")
	}
	if uri := p.get("DefinitionUri"); uri != nil && body == nil {
		body = uri
	}
	if body == nil {
		return
	}
	if body.call != "" || body.fields == nil {
		s.incomplete(body, "the OpenAPI body of %s is in another file: its routes are not read", id)
		return
	}
	paths := body.get("paths")
	if paths == nil || paths.call != "" {
		s.incomplete(body, "the OpenAPI body of %s has no plain paths", id)
		return
	}
	paths.members(func(path string, item *node) {
		if item.get("$ref") != nil || item.call != "" {
			s.incomplete(item, "path %s of %s is defined elsewhere", path, id)
			return
		}
		item.members(func(method string, operation *node) {
			if slices.Contains(methods, strings.ToLower(method)) {
				s.operation(id, method, path, operation)
			}
		})
	})
}

// operation adds the route of an OpenAPI operation to the function that it is integrated with.
func (s *survey) operation(api, method, path string, operation *node) {
	integration := operation.get("x-amazon-apigateway-integration")
	if kind := strings.ToLower(integration.get("type").scalar()); kind == "http" || kind == "http_proxy" || kind == "mock" {
		return // no function runs
	}
	uri := integration.get("uri")
	if uri == nil {
		s.incomplete(operation, "%s %s of %s has no integration of its own", strings.ToUpper(method), path, api)
		return
	}
	functions := s.referred(uri)
	if len(functions) != 1 {
		s.incomplete(uri, "%s %s of %s: the uri of its integration names no single function of this template",
			strings.ToUpper(method), path, api)
		return
	}
	s.route(functions[0], operation, methodOf(&node{text: method}, ""), path)
}

// referred lists the functions that an expression refers to, by Ref, GetAtt or Sub, each once.
func (s *survey) referred(n *node) []string {
	var ids []string
	add := func(name string) {
		id, _, _ := strings.Cut(name, ".")
		if s.functions[id] != nil && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	var walk func(n *node, call string, depth int)
	walk = func(n *node, call string, depth int) {
		if n == nil || depth > 20 {
			return
		}
		switch call {
		case "Sub":
			for _, part := range strings.Split(n.text, "${")[1:] {
				name, _, _ := strings.Cut(part, "}")
				add(name)
			}
		case "Ref", "GetAtt":
			add(n.text)
		}
		for _, item := range n.items {
			inner := n.call
			if inner == "" {
				inner = call // the arguments of a call that takes a list
			}
			walk(item, inner, depth+1)
		}
		for _, field := range n.fields {
			walk(field, "", depth+1)
		}
	}
	walk(n, "", 0)
	slices.Sort(ids)
	return ids
}
