package sandbox

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// What a template's pseudo parameters are on this machine.
const (
	localAccount = "000000000000"
	localRegion  = "us-east-1"
	localStack   = "sandbox"
)

// resolver evaluates CloudFormation's functions to text. Only what is asked for is evaluated, so a template may use
// anything at all in the parts that mean nothing on one machine, such as policies.
type resolver struct {
	refs  map[string]string            // what Ref of a name is: parameters, pseudo parameters, resources
	attrs map[string]map[string]string // what GetAtt of a resource's attribute is
}

func newResolver(region string) *resolver {
	return &resolver{
		refs: map[string]string{
			"AWS::AccountId": localAccount,
			"AWS::Partition": "aws",
			"AWS::Region":    region,
			"AWS::StackName": localStack,
			"AWS::StackId":   fmt.Sprintf("arn:aws:cloudformation:%s:%s:stack/%s/0", region, localAccount, localStack),
			"AWS::URLSuffix": "amazonaws.com",
		},
		attrs: map[string]map[string]string{},
	}
}

// text evaluates n, which must come to one string, number or boolean.
func (r *resolver) text(n *node) (string, error) {
	switch {
	case n.kind == scalarNode && !n.null:
		return n.text, nil
	case n.kind == callNode:
		return r.call(n)
	}
	return "", n.errorf("a single value is expected here")
}

func (r *resolver) call(n *node) (string, error) {
	switch n.text {
	case "Ref":
		if n.arg.kind != scalarNode {
			return "", n.errorf("Ref takes a name")
		}
		return r.ref(n, n.arg.text)
	case "GetAtt":
		return r.getAtt(n)
	case "Sub":
		return r.sub(n)
	case "Join":
		return r.join(n)
	}
	return "", n.errorf("the sandbox does not support the function %s here", n.text)
}

func (r *resolver) ref(at *node, name string) (string, error) {
	if v, ok := r.refs[name]; ok {
		return v, nil
	}
	return "", at.errorf("Ref %s: the sandbox knows no parameter or resource of that name", name)
}

func (r *resolver) getAtt(n *node) (string, error) {
	name := n.arg.text
	if n.arg.kind == listNode {
		var parts []string
		for _, item := range n.arg.items {
			parts = append(parts, item.text)
		}
		name = strings.Join(parts, ".")
	}
	return r.attribute(n, name)
}

func (r *resolver) attribute(at *node, name string) (string, error) {
	resource, attr, _ := strings.Cut(name, ".")
	if v, ok := r.attrs[resource][attr]; ok {
		return v, nil
	}
	return "", at.errorf("GetAtt %s: the sandbox does not know that attribute", name)
}

var substitution = regexp.MustCompile(`\$\{([^}]*)\}`)

// sub replaces each ${Name}, ${Resource.Attribute} and ${!Literal} of a string. The other spelling of Sub is a list of
// the string and a mapping of names that hold for it alone.
func (r *resolver) sub(n *node) (string, error) {
	template, own := n.arg, map[string]*node(nil)
	if n.arg.kind == listNode {
		if len(n.arg.items) != 2 || n.arg.items[1].kind != objectNode {
			return "", n.errorf("Sub takes a string, or a list of a string and a mapping")
		}
		template, own = n.arg.items[0], n.arg.items[1].fields
	}
	if template.kind != scalarNode {
		return "", n.errorf("Sub takes a string")
	}
	var failed error
	out := substitution.ReplaceAllStringFunc(template.text, func(m string) string {
		v, err := r.substitute(n, strings.TrimSpace(m[2:len(m)-1]), own)
		if err != nil && failed == nil {
			failed = err
		}
		return v
	})
	return out, failed
}

func (r *resolver) substitute(at *node, name string, own map[string]*node) (string, error) {
	if literal, ok := strings.CutPrefix(name, "!"); ok {
		return "${" + literal + "}", nil
	}
	if v, ok := own[name]; ok {
		return r.text(v)
	}
	if strings.Contains(name, ".") {
		return r.attribute(at, name)
	}
	return r.ref(at, name)
}

func (r *resolver) join(n *node) (string, error) {
	if n.arg.kind != listNode || len(n.arg.items) != 2 {
		return "", n.errorf("Join takes a list of a delimiter and a list")
	}
	parts, err := r.texts(n.arg.items[1])
	if err != nil {
		return "", err
	}
	return strings.Join(parts, n.arg.items[0].text), nil
}

// texts evaluates each item of a list; a single value is a list of one, as SAM reads it.
func (r *resolver) texts(n *node) ([]string, error) {
	if n == nil {
		return nil, nil
	}
	items := n.items
	if n.kind != listNode {
		items = []*node{n}
	}
	out := make([]string, 0, len(items))
	for _, item := range items {
		v, err := r.text(item)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// number evaluates n to a whole number; an absent n is fallback.
func (r *resolver) number(n *node, fallback int) (int, error) {
	if n == nil {
		return fallback, nil
	}
	v, err := r.text(n)
	if err != nil {
		return 0, err
	}
	i, err := strconv.Atoi(v)
	if err != nil {
		return 0, n.errorf("%q is not a whole number", v)
	}
	return i, nil
}

// textOr evaluates n; an absent n is fallback.
func (r *resolver) textOr(n *node, fallback string) (string, error) {
	if n == nil {
		return fallback, nil
	}
	return r.text(n)
}
