package samtemplate

import "strings"

// events reads the routes that a function's own events and its function URL make.
func (s *survey) events(id string, r *node) {
	p := r.properties()
	if p.call != "" {
		s.incomplete(p, "the properties of %s come from Fn::%s", id, p.call)
		return
	}
	if url := p.get("FunctionUrlConfig"); url != nil {
		s.route(id, url, "ANY", "of its function URL")
	}
	events := p.get("Events")
	if events == nil {
		return
	}
	if events.call != "" {
		s.incomplete(events, "the events of %s come from Fn::%s", id, events.call)
		return
	}
	events.members(func(name string, event *node) { s.event(id, name, event) })
}

func (s *survey) event(id, name string, event *node) {
	kind := event.get("Type").scalar()
	switch {
	case kind == "HttpApi" && event.get("Properties", "Path") == nil && event.get("Properties", "Method") == nil:
		s.route(id, event, "ANY", "$default")
	case kind == "HttpApi" || kind == "Api":
		at := event.get("Properties", "Method")
		if at == nil {
			at = event
		}
		method := methodOf(event.get("Properties", "Method"), kind)
		path := event.get("Properties", "Path").scalar()
		if method == "" || path == "" {
			s.incomplete(at, "event %s of %s: its method or path is no plain text", name, id)
			return
		}
		s.route(id, at, method, path)
	case kind == "" || strings.Contains(name, "::"):
		s.incomplete(event, "event %s of %s has no plain type", name, id)
	}
}

// methodOf returns a method in capitals; "" if it cannot be told. Without one, an HTTP API's event takes all.
func methodOf(n *node, kind string) string {
	if n == nil && kind == "HttpApi" {
		return "ANY"
	}
	switch m := strings.ToUpper(n.scalar()); m {
	case "*", "X-AMAZON-APIGATEWAY-ANY-METHOD":
		return "ANY"
	default:
		return m
	}
}

// route adds a route to a function.
func (s *survey) route(id string, at *node, method, path string) {
	f := s.functions[id]
	f.Routes = append(f.Routes, Route{Method: method, Path: path, Line: at.line, Text: s.template.line(at.line)})
}

// line returns the text of a line, counted from 1.
func (t *Template) line(n int) string {
	for line := range strings.Lines(string(t.Text)) {
		if n--; n == 0 {
			return strings.TrimRight(line, "\r\n")
		}
	}
	return ""
}
