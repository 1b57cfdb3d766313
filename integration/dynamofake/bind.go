package dynamofake

import "strings"

// bound is an expression with the values of its placeholders in one request.
// Without an expression it is empty: its condition holds for every item.
type bound struct {
	*expression
	scope scope
}

// present reports whether the request had the expression.
func (b *bound) present() bool { return b.expression != nil }

// holds evaluates a condition or filter.
func (b *bound) holds(it item) bool {
	return !b.present() || b.cond.holds(&b.scope, it)
}

// bind parses an expression of the request and resolves its placeholders. The
// order of the checks is the service's.
func (r *request) bind(cache *expressionCache, kind expressionKind, text *string) (b bound, err error) {
	if text == nil {
		return b, nil
	}
	if b.expression, err = cache.parse(kind, *text); err != nil {
		return b, err
	}
	message := r.resolve(&b)
	if message == "" {
		message = checkOverlap(b.paths, &b.scope)
	}
	if message == "" && b.cond != nil {
		message = b.cond.check(&b.scope)
	}
	if message == "" && b.update != nil {
		message = b.update.check(&b.scope)
	}
	if message != "" {
		return b, invalid("Invalid %s: %s", kind, message)
	}
	return b, nil
}

// resolve looks the placeholders up and marks them as used.
func (r *request) resolve(b *bound) string {
	if len(b.names) > 0 {
		b.scope.names = make([]string, len(b.names))
	}
	for i, placeholder := range b.names {
		arg := r.nameArg(placeholder)
		if arg == nil {
			return "An expression attribute name used in the document path is not defined; attribute name: " + placeholder
		}
		arg.used, b.scope.names[i] = true, arg.name
	}
	if len(b.values) > 0 {
		b.scope.values = make([]value, len(b.values))
	}
	for i, placeholder := range b.values {
		arg := r.valueArg(placeholder)
		if arg == nil {
			return "An expression attribute value used in expression is not defined; attribute value: " + placeholder
		}
		arg.used, b.scope.values[i] = true, arg.value
	}
	return ""
}

// nameArg is the argument for a #placeholder, nil if it was not given. Requests
// have few of them, so a search beats a map.
func (r *request) nameArg(placeholder string) *nameArg {
	for i := range r.names {
		if r.names[i].placeholder == placeholder {
			return &r.names[i]
		}
	}
	return nil
}

// valueArg is the argument for a :placeholder, nil if it was not given.
func (r *request) valueArg(placeholder string) *valueArg {
	for i := range r.values {
		if r.values[i].placeholder == placeholder {
			return &r.values[i]
		}
	}
	return nil
}

// checkScalarKeys refuses a path that leads into a key attribute of the table
// or of an index.
func (b *bound) checkScalarKeys(t *table) error {
	if !b.present() {
		return nil
	}
	schema, indexes := t.shape()
	for _, p := range b.all {
		if len(p) == 1 {
			continue
		}
		name := p[0].key(&b.scope)
		if schema.has(name) {
			return invalid("Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: %s", name)
		}
		for _, x := range indexes {
			if x.schema.has(name) {
				return invalid("Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: IndexKey: %s", name)
			}
		}
	}
	return nil
}

// maxPlaceholder is the length of a name or value in bytes, with its # or :
// (developer guide, "Quotas in Amazon DynamoDB": expression parameters).
const maxPlaceholder = 255

// checkPlaceholders refuses names and values with a wrong form.
func (r *request) checkPlaceholders() error {
	if r.hasNames && len(r.names) == 0 {
		return invalid("ExpressionAttributeNames must not be empty")
	}
	for _, n := range r.names {
		switch {
		case len(n.placeholder) > maxPlaceholder:
			return invalid("ExpressionAttributeNames contains invalid key: The expression attribute map contains a key that is too long; size of key: %d", len(n.placeholder))
		case !isPlaceholder('#', n.placeholder):
			return invalid(`ExpressionAttributeNames contains invalid key: Syntax error; key: "%s"`, n.placeholder)
		case n.name == "":
			return invalid("ExpressionAttributeNames contains invalid value: %s for key %s", errNoName, n.placeholder)
		}
	}
	if r.hasValues && len(r.values) == 0 {
		return invalid("ExpressionAttributeValues must not be empty")
	}
	for _, v := range r.values {
		switch {
		case len(v.placeholder) > maxPlaceholder:
			return invalid("ExpressionAttributeValues contains invalid key: The expression attribute map contains a key that is too long;")
		case !isPlaceholder(':', v.placeholder):
			return invalid(`ExpressionAttributeValues contains invalid key: Syntax error; key: "%s"`, v.placeholder)
		}
	}
	if r.valueComplaint != nil {
		return r.valueComplaint
	}
	return r.checkSubstitutions()
}

// maxSubstitutions is the length of all names and values together, in bytes
// (developer guide, "Quotas in Amazon DynamoDB": expression parameters).
const maxSubstitutions = 2 << 20

// checkSubstitutions refuses names and values that are too long together.
func (r *request) checkSubstitutions() error {
	size := 0
	for _, n := range r.names {
		size += len(n.placeholder) + len(n.name)
	}
	if size > maxSubstitutions {
		return invalid("ExpressionAttributeNames exceeds max size")
	}
	for _, v := range r.values {
		size += len(v.placeholder) + v.value.bytes()
	}
	if size > maxSubstitutions {
		return invalid("ExpressionAttributeValues exceeds max size")
	}
	return nil
}

// isPlaceholder reports whether s is the prefix and a word.
func isPlaceholder(prefix byte, s string) bool {
	return len(s) > 1 && s[0] == prefix && run(s, 1, isWordByte) == len(s)
}

// checkUnused refuses names and values that no expression used.
func (r *request) checkUnused() error {
	var unused []string
	for _, n := range r.names {
		if !n.used {
			unused = append(unused, n.placeholder)
		}
	}
	if unused != nil {
		return invalid("Value provided in ExpressionAttributeNames unused in expressions: keys: {%s}", strings.Join(unused, ", "))
	}
	for _, v := range r.values {
		if !v.used {
			unused = append(unused, v.placeholder)
		}
	}
	if unused != nil {
		return invalid("Value provided in ExpressionAttributeValues unused in expressions: keys: {%s}", strings.Join(unused, ", "))
	}
	return nil
}
