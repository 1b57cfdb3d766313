package samtemplate

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// node is one value of a template and the line that it stands on. CloudFormation's short and long spellings of a
// function, !Sub x and {Fn::Sub: x}, are one node with a call.
type node struct {
	line   int
	text   string   // of a scalar, else ""
	keys   []string // of a mapping, in the order written
	fields map[string]*node
	items  []*node
	call   string // name of an intrinsic function ("Ref", "Sub"); items[0] is its argument
}

// get returns a member of a mapping, or nil.
func (n *node) get(path ...string) *node {
	for _, key := range path {
		if n == nil {
			return nil
		}
		n = n.fields[key]
	}
	return n
}

// scalar returns the text of a scalar, "" if n is absent or anything else.
func (n *node) scalar() string {
	if n == nil {
		return ""
	}
	return n.text
}

// members calls f for each member of a mapping, in the order written.
func (n *node) members(f func(key string, value *node)) {
	if n == nil {
		return
	}
	for _, key := range n.keys {
		f(key, n.fields[key])
	}
}

// parse reads YAML, and so JSON, into nodes. Its errors start with the line.
func parse(text string) (*node, error) {
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		text = strings.ReplaceAll(text, "\t", " ") // JSON may be indented by tabs, YAML may not
	}
	file, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		return nil, syntaxError(err)
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nil, errors.New("1: the template is empty")
	}
	r := reader{anchors: map[string]*node{}}
	root := r.read(file.Docs[0].Body, 1)
	if len(root.keys) == 0 {
		return nil, errors.New("1: a template is a mapping")
	}
	return root, nil
}

// syntaxError keeps the parser's line and message and drops its picture of the source, so that it is one line.
func syntaxError(err error) error {
	var bad *yaml.SyntaxError
	if errors.As(err, &bad) {
		return fmt.Errorf("%d: %s", bad.Token.Position.Line, bad.Message)
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return fmt.Errorf("1: %s", first)
}

// reader turns the parser's tree into nodes. What it does not know becomes an empty node: a route is never taken from it.
type reader struct {
	anchors map[string]*node
}

// read returns the node of n. The line of a mapping is its key's, since the parser gives a mapping the position of its
// first colon.
func (r *reader) read(n ast.Node, line int) *node {
	switch n := n.(type) {
	case *ast.MappingNode:
		return r.mapping(n, line)
	case *ast.SequenceNode:
		out := &node{line: line}
		for _, v := range n.Values {
			out.items = append(out.items, r.read(v, v.GetToken().Position.Line))
		}
		return out
	case *ast.TagNode:
		if n.Value == nil {
			return &node{line: line}
		}
		name := strings.TrimPrefix(n.Start.Value, "!")
		return &node{line: n.Start.Position.Line, call: name, items: []*node{r.read(n.Value, line)}}
	case *ast.AnchorNode:
		out := r.read(n.Value, line)
		r.anchors[n.Name.String()] = out
		return out
	case *ast.AliasNode:
		if out := r.anchors[n.Value.String()]; out != nil {
			return out
		}
	case *ast.LiteralNode:
		return &node{line: n.Start.Position.Line, text: n.Value.Value}
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return &node{line: n.GetToken().Position.Line, text: n.GetToken().Value}
	}
	return &node{line: line}
}

func (r *reader) mapping(m *ast.MappingNode, line int) *node {
	out := &node{line: line, fields: map[string]*node{}}
	var merged []*node
	for _, v := range m.Values {
		at := v.Key.GetToken().Position.Line
		value := r.read(v.Value, at)
		if _, ok := v.Key.(*ast.MergeKeyNode); ok {
			merged = append(merged, append(value.items, value)...)
			continue
		}
		out.add(v.Key.GetToken().Value, value)
	}
	for _, base := range merged {
		out.underlay(base, false)
	}
	return out.asCall()
}

func (n *node) add(key string, value *node) {
	if _, ok := n.fields[key]; !ok {
		n.keys = append(n.keys, key)
	}
	n.fields[key] = value
}

// underlay adds the members of base that n lacks. Where both have a mapping and it goes deep, the mappings are merged.
func (n *node) underlay(base *node, deep bool) {
	base.members(func(key string, value *node) {
		switch own := n.fields[key]; {
		case own == nil:
			n.add(key, value)
		case deep && own.fields != nil && value.fields != nil:
			merged := &node{line: own.line, fields: map[string]*node{}}
			merged.underlay(own, false)
			merged.underlay(value, true)
			n.fields[key] = merged
		}
	})
}

// asCall recognises the long spelling of a function.
func (n *node) asCall() *node {
	if len(n.keys) != 1 {
		return n
	}
	name, isFn := strings.CutPrefix(n.keys[0], "Fn::")
	if !isFn && name != "Ref" || strings.HasPrefix(name, "ForEach::") {
		return n
	}
	return &node{line: n.line, call: name, items: []*node{n.fields[n.keys[0]]}}
}
