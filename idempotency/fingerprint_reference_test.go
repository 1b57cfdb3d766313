package idempotency

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// This file is what the fingerprint of a JSON body is held against: the same rules over two JSON libraries and big
// integers, slow and by the letter.

// referenceGap stands for an array's element that a selection leaves out.
type referenceGap struct{}

// referenceNumber is coefficient × 10^exponent, the coefficient without zeros at its end.
type referenceNumber struct{ coefficient, exponent *big.Int }

// reference says what a selection counts of a text: two texts mean the same exactly if they get the same string.
func reference(text []byte, s Selection) string {
	tree, ok := parseReference(text)
	if !ok {
		return "bytes " + string(text)
	}
	if len(s.Include) > 0 {
		rest, found := includedTree(tree, referencePointers(s.Include))
		if !found {
			return "whole " + spelledTree(tree)
		}
		tree = rest
	}
	tree = excludedTree(tree, referencePointers(s.Exclude))
	return "json " + spelledTree(tree)
}

// parseReference returns the tree of a text that is read by meaning.
func parseReference(text []byte) (any, bool) {
	if !jsontext.Value(text).IsValid() {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		return nil, false
	}
	return acceptedTree(tree, 0)
}

// acceptedTree applies the limits, and turns numbers into exact ones.
func acceptedTree(tree any, depth int) (any, bool) {
	all := true
	next := func(v any) any {
		v, ok := acceptedTree(v, depth+1)
		all = all && ok
		return v
	}
	switch v := tree.(type) {
	case json.Number:
		return exactNumber(string(v))
	case []any:
		for i := range v {
			v[i] = next(v[i])
		}
		return v, all && depth < 128
	case map[string]any:
		for a := range v {
			v[a] = next(v[a])
			for b := range v {
				all = all && (a == b || !strings.EqualFold(a, b))
			}
		}
		return v, all && depth < 128
	}
	return tree, true
}

func exactNumber(text string) (any, bool) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	if len(strings.TrimLeft(strings.TrimLeft(exponent, "+-"), "0")) > 18 {
		return nil, false
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	n := referenceNumber{new(big.Int), new(big.Int)}
	n.coefficient.SetString(whole+fraction, 10)
	n.exponent.SetString(strings.TrimPrefix(exponent, "+"), 10)
	if exponent == "" {
		n.exponent.SetInt64(0)
	}
	n.exponent.Sub(n.exponent, big.NewInt(int64(len(fraction))))
	if n.coefficient.Sign() == 0 {
		return referenceNumber{new(big.Int), new(big.Int)}, true
	}
	for ten := big.NewInt(10); ; {
		quotient, rest := new(big.Int).QuoRem(n.coefficient, ten, new(big.Int))
		if rest.Sign() != 0 {
			return n, true
		}
		n.coefficient = quotient
		n.exponent.Add(n.exponent, big.NewInt(1))
	}
}

// spelledTree writes a tree in one spelling.
func spelledTree(tree any) string {
	switch v := tree.(type) {
	case nil:
		return "null"
	case referenceGap:
		return "gap"
	case bool:
		return strconv.FormatBool(v)
	case string:
		return strconv.Quote(v)
	case referenceNumber:
		return v.coefficient.String() + "e" + v.exponent.String()
	case []any:
		var elements []string
		for _, e := range v {
			elements = append(elements, spelledTree(e))
		}
		return "[" + strings.Join(elements, ",") + "]"
	case map[string]any:
		var members []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			members = append(members, strconv.Quote(name)+":"+spelledTree(v[name]))
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	panic(fmt.Sprintf("no spelling of %T", tree))
}

// referenceStep is one step from the root of a tree to a value.
type referenceStep struct {
	token   string
	element bool
}

// leadsTo reports whether a pointer names the first steps of a path, and how many are left of the pointer behind it.
func leadsTo(pointer []string, path []referenceStep, same func(a, b string) bool) (within bool, through bool) {
	for i := range min(len(pointer), len(path)) {
		if !same(pointer[i], path[i].token) && !(path[i].element && same(pointer[i], "*")) {
			return false, false
		}
	}
	return len(pointer) <= len(path), len(pointer) > len(path)
}

func sameName(a, b string) bool { return a == b }

func similarName(a, b string) bool {
	plain := strings.NewReplacer("-", "", "_", "")
	return strings.EqualFold(plain.Replace(a), plain.Replace(b))
}

func referencePointers(texts []string) [][]string {
	var list [][]string
	for _, text := range texts {
		var tokens []string
		for _, token := range strings.Split(text, "/")[1:] {
			tokens = append(tokens, strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~"))
		}
		list = append(list, tokens)
	}
	return list
}

// includedTree leaves of a tree what pointers name or lead through, and says whether anything is there that they name.
func includedTree(tree any, pointers [][]string) (rest any, found bool) {
	rest = filteredTree(tree, nil, func(path []referenceStep) bool {
		return slices.ContainsFunc(pointers, func(p []string) bool {
			within, through := leadsTo(p, path, similarName)
			found = found || within
			return within || through
		})
	})
	return rest, found
}

// excludedTree takes out of a tree what pointers name.
func excludedTree(tree any, pointers [][]string) any {
	return filteredTree(tree, nil, func(path []referenceStep) bool {
		return !slices.ContainsFunc(pointers, func(p []string) bool {
			within, _ := leadsTo(p, path, sameName)
			return within
		})
	})
}

// filteredTree leaves of a tree the values whose path counts.
func filteredTree(tree any, path []referenceStep, counts func([]referenceStep) bool) any {
	if !counts(path) {
		return referenceGap{}
	}
	switch v := tree.(type) {
	case []any:
		rest := make([]any, 0, len(v))
		for i, e := range v {
			rest = append(rest, filteredTree(e, append(path[:len(path):len(path)], referenceStep{strconv.Itoa(i), true}), counts))
		}
		return rest
	case map[string]any:
		rest := make(map[string]any)
		for name, m := range v {
			m = filteredTree(m, append(path[:len(path):len(path)], referenceStep{name, false}), counts)
			if m != (any)(referenceGap{}) {
				rest[name] = m
			}
		}
		return rest
	}
	return tree
}
