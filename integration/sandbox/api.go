package sandbox

import (
	"fmt"
	"slices"
	"strings"
)

// route is one route of the HTTP API.
type route struct {
	method   string   // upper case, or ANY
	segments []string // of the path: literal, {name}, or {name+} as the last; nil with catchAll
	catchAll bool     // $default
	key      string   // "POST /payments", as events carry it
	function string   // logical id
	auth     bool     // whether the API's authorizer guards it
	scopes   []string // of which a token must have one; none: any token does
	line     int      // of the template
}

// authorizerSpec is the JWT authorizer of an AWS::Serverless::HttpApi.
type authorizerSpec struct {
	issuer   string
	audience []string
}

// apiSpec is the template's one AWS::Serverless::HttpApi.
type apiSpec struct {
	id     string
	auth   bool     // whether routes are guarded unless they say otherwise
	name   string   // of the authorizer
	scopes []string // that routes require unless they say otherwise
}

// readAPI reads the template's AWS::Serverless::HttpApi, if it has one.
func (t *template) readAPI(r *resolver, resources *node) (*apiSpec, error) {
	var api *apiSpec
	for _, id := range resources.keys {
		res := resources.fields[id]
		if res.get("Type").text != "AWS::Serverless::HttpApi" {
			continue
		}
		if api != nil {
			return nil, res.errorf("the sandbox serves one AWS::Serverless::HttpApi, and %s is the second", id)
		}
		api = &apiSpec{id: id}
		p := res.get("Properties")
		if err := p.only("API "+id, "AccessLogSettings", "Auth", "DefaultRouteSettings", "Description", "FailOnWarnings",
			"Name", "RouteSettings", "Tags"); err != nil {
			return nil, err
		}
		if err := t.readAuth(r, api, p.get("Auth")); err != nil {
			return nil, err
		}
	}
	return api, nil
}

func (t *template) readAuth(r *resolver, api *apiSpec, auth *node) error {
	if auth == nil {
		return nil
	}
	if err := auth.only("Auth", "Authorizers", "DefaultAuthorizer"); err != nil {
		return err
	}
	authorizers := auth.get("Authorizers")
	if authorizers == nil || authorizers.kind != objectNode || len(authorizers.keys) != 1 {
		return auth.errorf("the sandbox supports exactly one authorizer")
	}
	api.name = authorizers.keys[0]
	a := authorizers.fields[api.name]
	if err := a.only("authorizer "+api.name, "AuthorizationScopes", "IdentitySource", "JwtConfiguration"); err != nil {
		return err
	}
	if src := a.get("IdentitySource"); src != nil && src.text != "$request.header.Authorization" {
		return src.errorf("authorizer %s: the sandbox reads tokens from $request.header.Authorization alone", api.name)
	}
	if d := auth.get("DefaultAuthorizer"); d != nil {
		if d.text != api.name {
			return d.errorf("there is no authorizer %s", d.text)
		}
		api.auth = true
	}
	var err error
	if api.scopes, err = r.texts(a.get("AuthorizationScopes")); err != nil {
		return err
	}
	return t.readJWT(r, api.name, a)
}

func (t *template) readJWT(r *resolver, name string, a *node) error {
	jwt := a.get("JwtConfiguration")
	if jwt == nil || jwt.get("issuer") == nil || jwt.get("audience") == nil {
		return a.errorf("authorizer %s: JwtConfiguration needs issuer and audience", name)
	}
	issuer, err := r.text(jwt.get("issuer"))
	if err != nil {
		return err
	}
	audience, err := r.texts(jwt.get("audience"))
	if err != nil {
		return err
	}
	t.authorizer = &authorizerSpec{issuer: issuer, audience: audience}
	return nil
}

// readEvents adds the routes and the event source mappings of one function.
func (t *template) readEvents(r *resolver, api *apiSpec, function string, events *node) error {
	if events == nil {
		return nil
	}
	for _, name := range events.keys {
		e := events.fields[name]
		what := fmt.Sprintf("function %s, event %s", function, name)
		if err := t.readEvent(r, api, what, function, e); err != nil {
			return err
		}
	}
	return nil
}

func (t *template) readEvent(r *resolver, api *apiSpec, what, function string, e *node) error {
	switch kind := e.get("Type"); {
	case textIs(kind, "HttpApi"):
		rt, err := readRoute(r, api, what, e.get("Properties"))
		rt.function, rt.line = function, e.line
		t.routes = append(t.routes, rt)
		return err
	case textIs(kind, "DynamoDB"):
		m, err := readMapping(r, what, function, e)
		t.mappings = append(t.mappings, m)
		return err
	}
	return e.errorf("%s: the sandbox supports events of the types HttpApi and DynamoDB", what)
}

func readRoute(r *resolver, api *apiSpec, what string, p *node) (route, error) {
	rt := route{catchAll: true, key: "$default"}
	if api != nil {
		rt.auth, rt.scopes = api.auth, api.scopes
	}
	if err := p.only(what, "ApiId", "Auth", "Method", "Path", "PayloadFormatVersion"); err != nil || p == nil {
		return rt, err
	}
	if id := p.get("ApiId"); id != nil && (api == nil || id.kind != callNode || id.arg.text != api.id) {
		return rt, id.errorf("%s: ApiId must be a Ref of the template's API", what)
	}
	if v := p.get("PayloadFormatVersion"); v != nil && v.text != "2.0" {
		return rt, v.errorf("%s: the sandbox supports PayloadFormatVersion 2.0", what)
	}
	if path := p.get("Path"); path != nil && path.text != "$default" {
		method, err := r.textOr(p.get("Method"), "ANY")
		if err != nil {
			return rt, err
		}
		if err := rt.parse(strings.ToUpper(method), path); err != nil {
			return rt, err
		}
	}
	return rt, readRouteAuth(r, api, &rt, what, p.get("Auth"))
}

// parse sets the route's method and path.
func (rt *route) parse(method string, path *node) error {
	if !strings.HasPrefix(path.text, "/") {
		return path.errorf("the path %q does not start with /", path.text)
	}
	if method == "X-AMAZON-APIGATEWAY-ANY-METHOD" {
		method = "ANY"
	}
	rt.catchAll, rt.method, rt.key = false, method, method+" "+path.text
	rt.segments = strings.Split(path.text[1:], "/")
	for i, s := range rt.segments {
		if strings.HasSuffix(s, "+}") && i != len(rt.segments)-1 {
			return path.errorf("the path %q has %s before its end", path.text, s)
		}
	}
	return nil
}

func readRouteAuth(r *resolver, api *apiSpec, rt *route, what string, auth *node) error {
	if auth == nil {
		return nil
	}
	if err := auth.only(what+": Auth", "AuthorizationScopes", "Authorizer"); err != nil {
		return err
	}
	if a := auth.get("Authorizer"); a != nil {
		if a.text != "NONE" && (api == nil || a.text != api.name) {
			return a.errorf("%s: there is no authorizer %s", what, a.text)
		}
		rt.auth = a.text != "NONE"
	}
	if scopes := auth.get("AuthorizationScopes"); scopes != nil {
		var err error
		if rt.scopes, err = r.texts(scopes); err != nil {
			return err
		}
	}
	return nil
}

// checkRoutes refuses two routes of one key: API Gateway would too.
func checkRoutes(routes []route) error {
	for i, rt := range routes {
		if slices.ContainsFunc(routes[:i], func(o route) bool { return o.key == rt.key }) {
			return &lineError{line: rt.line, text: fmt.Sprintf("a second event has the route %q", rt.key)}
		}
	}
	return nil
}
