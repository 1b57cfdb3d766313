package apigateway

import (
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// header collects the headers of an event, in which a field stands once, as a list, or as both: what both say counts
// once. Spellings of a name that differ in case are one field, so that a second key is seen; their order is that of the
// spellings, the same each time.
func header(single map[string]string, multi map[string][]string) http.Header {
	h := make(http.Header, max(len(single), len(multi)))
	for _, name := range slices.Sorted(maps.Keys(multi)) {
		field := http.CanonicalHeaderKey(name)
		h[field] = append(h[field], multi[name]...)
	}
	listed := maps.Clone(h)
	for _, name := range slices.Sorted(maps.Keys(single)) {
		field := http.CanonicalHeaderKey(name)
		if !slices.Contains(listed[field], single[name]) {
			h[field] = append(h[field], single[name])
		}
	}
	return h
}

// filled are the headers that have values. One without any was deleted by a handler behind another adapter; joined, it
// would go out with an empty value.
func filled(h http.Header) http.Header {
	f := make(http.Header, len(h))
	for name, values := range h {
		if len(values) > 0 {
			f[name] = values
		}
	}
	return f
}

// joined writes each field once, as RFC 9110, section 5.3, allows for all but Set-Cookie, which is left out.
func joined(h http.Header) map[string]string {
	fields := make(map[string]string, len(h))
	for name, values := range filled(h) {
		fields[name] = strings.Join(values, ", ")
	}
	delete(fields, "Set-Cookie")
	return fields
}

// parameters collects the parameters of a query. The lists say all that the single values say.
func parameters(single map[string]string, multi map[string][]string) map[string][]string {
	all := make(map[string][]string, max(len(single), len(multi)))
	for name, v := range single {
		all[name] = []string{v}
	}
	maps.Copy(all, multi)
	return all
}

// orOK is the status of a response event that names none.
func orOK(status int) int {
	if status == 0 {
		return http.StatusOK
	}
	return status
}

// names are the values of an authorizer that can name somebody.
func names(values map[string]any) map[string]string {
	named := make(map[string]string, len(values))
	for name, v := range values {
		if s := text(v); s != "" {
			named[name] = s
		}
	}
	return named
}

// maxExact is the largest integer up to which no two integers are one float64.
const maxExact = 1<<53 - 1

// text is an authorizer's value as a string. Null, lists and objects name nobody and are "", and so are numbers that
// decoding may have rounded: two tenants must not become one.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		if v == math.Trunc(v) && math.Abs(v) <= maxExact {
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}
