package sandbox

import (
	"net/url"
	"strings"
)

// match is the route that a request takes, and the values of its path variables, decoded.
type match struct {
	route  *route
	params map[string]string
}

// findRoute picks the most specific route, as an HTTP API does: all segments, literal ones before variables, then a
// greedy variable, then $default; the request's own method before ANY.
//
// Source: docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-routes.html
func findRoute(routes []route, method, escapedPath string) (match, bool) {
	segments := strings.Split(strings.TrimPrefix(escapedPath, "/"), "/")
	best, bestRank := match{}, ""
	for i := range routes {
		rt := &routes[i]
		params, rank, ok := rt.try(method, segments)
		if ok && (best.route == nil || rank < bestRank) {
			best, bestRank = match{route: rt, params: params}, rank
		}
	}
	return best, best.route != nil
}

// try matches one route. Of two that match, the one whose rank sorts first is the more specific: a rank has a letter
// for each segment (a literal, b variable, c greedy variable, d $default) and one for the method.
func (rt *route) try(method string, segments []string) (params map[string]string, rank string, ok bool) {
	if rt.catchAll {
		return nil, "d", true
	}
	if rt.method != "ANY" && rt.method != method {
		return nil, "", false
	}
	for i, s := range rt.segments {
		name, greedy, variable := variableOf(s)
		if i >= len(segments) || variable && segments[i] == "" {
			return nil, "", false
		}
		switch {
		case greedy:
			params = withParam(params, name, strings.Join(segments[i:], "/"))
			return params, rank + "c" + rt.methodRank(), true
		case variable:
			params = withParam(params, name, segments[i])
			rank += "b"
		case s == segments[i]:
			rank += "a"
		default:
			return nil, "", false
		}
	}
	return params, rank + rt.methodRank(), len(rt.segments) == len(segments)
}

func (rt *route) methodRank() string {
	if rt.method == "ANY" {
		return "b"
	}
	return "a"
}

// variableOf reads {name} and {name+}.
func variableOf(segment string) (name string, greedy, ok bool) {
	inner, ok := strings.CutPrefix(segment, "{")
	if !ok {
		return "", false, false
	}
	inner, ok = strings.CutSuffix(inner, "}")
	name, greedy = strings.CutSuffix(inner, "+")
	return name, greedy, ok
}

func withParam(params map[string]string, name, escaped string) map[string]string {
	if params == nil {
		params = map[string]string{}
	}
	value, err := url.PathUnescape(escaped)
	if err != nil {
		value = escaped
	}
	params[name] = value
	return params
}
