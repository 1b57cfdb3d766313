package sandbox

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
)

// parameters gives each parameter of a template its value: the given one, else the sandbox's own, else its default.
func (r *resolver) parameters(root *node, given, local map[string]string) error {
	params := root.get("Parameters")
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if params.get(name) == nil {
			return fmt.Errorf("the template has no parameter %s", name)
		}
	}
	if params == nil {
		return nil
	}
	for _, name := range params.keys {
		value, err := parameter(name, params.fields[name], given, local)
		if err != nil {
			return err
		}
		r.refs[name] = value
	}
	return nil
}

func parameter(name string, n *node, given, local map[string]string) (string, error) {
	if t := n.get("Type"); t == nil || t.text != "String" && t.text != "Number" {
		return "", n.errorf("parameter %s: the sandbox supports the types String and Number", name)
	}
	value, err := parameterValue(name, n, given, local)
	if err != nil {
		return "", err
	}
	return value, allowed(name, n, value)
}

// allowed checks a value against what its parameter asks for.
func allowed(name string, n *node, value string) error {
	if p := n.get("AllowedPattern"); p != nil {
		re, err := regexp.Compile(`\A(?:` + p.text + `)\z`)
		if err != nil {
			return p.errorf("parameter %s: the sandbox cannot read its AllowedPattern: %v", name, err)
		}
		if !re.MatchString(value) {
			return p.errorf("parameter %s: %q does not match its AllowedPattern", name, value)
		}
	}
	is := func(v *node) bool { return v.text == value }
	if values := n.get("AllowedValues"); values != nil && !slices.ContainsFunc(values.items, is) {
		return values.errorf("parameter %s: %q is not one of its AllowedValues", name, value)
	}
	if n.get("Type").text == "Number" {
		return inRange(name, n, value)
	}
	return nil
}

func inRange(name string, n *node, value string) error {
	v, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return n.errorf("parameter %s: %q is not a number", name, value)
	}
	bound := func(key string) (at *node, limit float64, ok bool) {
		if at = n.get(key); at == nil {
			return nil, 0, false
		}
		limit, err := strconv.ParseFloat(at.text, 64)
		return at, limit, err == nil
	}
	if at, limit, ok := bound("MinValue"); ok && v < limit {
		return at.errorf("parameter %s: %s is less than its MinValue %s", name, value, at.text)
	}
	if at, limit, ok := bound("MaxValue"); ok && v > limit {
		return at.errorf("parameter %s: %s is more than its MaxValue %s", name, value, at.text)
	}
	return nil
}

func parameterValue(name string, n *node, given, local map[string]string) (string, error) {
	if v, ok := given[name]; ok {
		return v, nil
	}
	if v, ok := local[name]; ok {
		return v, nil
	}
	if fallback := n.get("Default"); fallback != nil {
		return fallback.text, nil
	}
	return "", n.errorf("parameter %s has no default: pass -param %s=VALUE", name, name)
}
