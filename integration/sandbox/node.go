package sandbox

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// kind says which fields of a node are set.
type kind int

const (
	scalarNode kind = iota // text
	listNode               // items
	objectNode             // keys, fields
	callNode               // text is the function's name, arg its argument
)

// node is one value of a template and the line that it stands on. CloudFormation's short and long spellings of a
// function, !Sub x and {Fn::Sub: x}, are one node of kind callNode.
type node struct {
	line   int
	kind   kind
	text   string
	null   bool
	items  []*node
	keys   []string // in the order written
	fields map[string]*node
	arg    *node
}

// lineError is a complaint about one line of a template.
type lineError struct {
	line int
	text string
}

func (e *lineError) Error() string { return fmt.Sprintf("%d: %s", e.line, e.text) }

// errorf complains about the line of n.
func (n *node) errorf(format string, args ...any) error {
	return &lineError{line: n.line, text: fmt.Sprintf(format, args...)}
}

// get returns a member of an object, or nil.
func (n *node) get(key string) *node {
	if n == nil {
		return nil
	}
	return n.fields[key]
}

// only refuses members that are not among known: what is not understood must not be passed over in silence.
func (n *node) only(what string, known ...string) error {
	if n == nil {
		return nil
	}
	if n.kind != objectNode {
		return n.errorf("%s must be a mapping", what)
	}
	for _, k := range n.keys {
		if !slices.Contains(known, k) {
			return n.fields[k].errorf("%s: the sandbox does not support %s", what, k)
		}
	}
	return nil
}

// parseTemplate reads YAML, and so JSON, into nodes.
func parseTemplate(text []byte) (*node, error) {
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, syntaxError(err)
	}
	if len(file.Docs) != 1 || file.Docs[0].Body == nil {
		return nil, &lineError{line: 1, text: "a template is one YAML document"}
	}
	root, err := convert(file.Docs[0].Body, 1)
	if err != nil {
		return nil, err
	}
	if root.kind != objectNode {
		return nil, root.errorf("a template is a mapping")
	}
	return root, nil
}

// syntaxError keeps the parser's line and message and drops its picture of the source, so that it is one line.
func syntaxError(err error) error {
	var bad *yaml.SyntaxError
	if errors.As(err, &bad) {
		return &lineError{line: bad.Token.Position.Line, text: bad.Message}
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return &lineError{line: 1, text: first}
}

// convert turns the parser's tree into nodes. The line of a mapping is its key's, since the parser gives a mapping the
// position of its first colon.
func convert(n ast.Node, line int) (*node, error) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return convertMapping(n, line)
	case *ast.SequenceNode:
		return convertSequence(n, line)
	case *ast.TagNode:
		return convertTag(n)
	case *ast.LiteralNode:
		return &node{line: n.Start.Position.Line, text: n.Value.Value}, nil
	case *ast.NullNode:
		return &node{line: n.Token.Position.Line, null: true}, nil
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return &node{line: n.GetToken().Position.Line, text: n.GetToken().Value}, nil
	}
	return nil, &lineError{line: n.GetToken().Position.Line, text: fmt.Sprintf("the sandbox does not support a YAML %s here", n.Type())}
}

func convertMapping(m *ast.MappingNode, line int) (*node, error) {
	out := &node{line: line, kind: objectNode, fields: map[string]*node{}}
	for _, v := range m.Values {
		if _, ok := v.Key.(*ast.MergeKeyNode); ok {
			return nil, &lineError{line: v.Key.GetToken().Position.Line, text: "CloudFormation has no YAML merge keys"}
		}
		key := v.Key.GetToken().Value
		value, err := convert(v.Value, v.Key.GetToken().Position.Line)
		if err != nil {
			return nil, err
		}
		out.keys = append(out.keys, key)
		out.fields[key] = value
	}
	return asCall(out), nil
}

// asCall recognises the long spelling of a function.
func asCall(n *node) *node {
	if len(n.keys) != 1 {
		return n
	}
	name, isFn := strings.CutPrefix(n.keys[0], "Fn::")
	if !isFn && name != "Ref" {
		return n
	}
	return &node{line: n.line, kind: callNode, text: name, arg: n.fields[n.keys[0]]}
}

func convertSequence(s *ast.SequenceNode, line int) (*node, error) {
	out := &node{line: line, kind: listNode}
	for _, v := range s.Values {
		item, err := convert(v, v.GetToken().Position.Line)
		if err != nil {
			return nil, err
		}
		out.items = append(out.items, item)
	}
	return out, nil
}

func convertTag(t *ast.TagNode) (*node, error) {
	line := t.Start.Position.Line
	name, ok := strings.CutPrefix(t.Start.Value, "!")
	if !ok || strings.HasPrefix(name, "!") || t.Value == nil {
		return nil, &lineError{line: line, text: "the sandbox does not support the tag " + t.Start.Value}
	}
	arg, err := convert(t.Value, line)
	if err != nil {
		return nil, err
	}
	return &node{line: line, kind: callNode, text: name, arg: arg}, nil
}
