package sandbox

import (
	"maps"
	"slices"
	"strings"
)

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
		if p := res.get("Properties"); p == nil || p.null {
			res.fields["Properties"] = &node{line: res.line, kind: objectNode, fields: map[string]*node{}}
		}
		if p := res.get("Properties"); p.kind == objectNode && section.kind == objectNode {
			underlay(p, section)
		}
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
