package lint

import (
	"go/types"
	"strings"
)

// The packages of this module, by their path inside it. They are recognised by the end of their path, so that the module
// can be published under another, forked or vendored.
const (
	rootPackage   = "idempotency"
	eventAdapters = "idempotency/apigateway"
	httpAdapter   = "idempotency/httpserver"
)

// The packages of aws-lambda-go.
const (
	lambdaPackage = "github.com/aws/aws-lambda-go/lambda"
	eventsPackage = "github.com/aws/aws-lambda-go/events"
	urlPackage    = "github.com/aws/aws-lambda-go/lambdaurl"
)

// within tells whether a path is that of a package, as it is or vendored or under another module path.
func within(path, inside string) bool {
	return path == inside || strings.HasSuffix(path, "/"+inside)
}

// starters are the functions that run or make a Lambda handler, and which argument the handler is.
var starters = map[string]int{
	"Start": 0, "StartWithOptions": 0, "StartWithContext": 1, "StartHandler": 0, "StartHandlerWithContext": 1,
	"StartHandlerFunc": 0, "NewHandler": 0, "NewHandlerWithOptions": 0,
}

// apiEvents are the events whose handler answers a client: API Gateway, function URLs, load balancers.
var apiEvents = map[string]bool{
	"APIGatewayProxyRequest": true, "APIGatewayV2HTTPRequest": true, "LambdaFunctionURLRequest": true, "ALBTargetGroupRequest": true,
}

// isGuardPackage tells whether a package can guard: it is the root of this module, or one of its adapters. A package of
// somebody else that is called idempotency has no such Guard, as far as its names are known.
func isGuardPackage(p *types.Package) bool {
	if within(p.Path(), eventAdapters) || within(p.Path(), httpAdapter) {
		return true
	}
	if !within(p.Path(), rootPackage) {
		return false
	}
	scope := p.Scope()
	return !p.Complete() || scope.Lookup("Guard") != nil && scope.Lookup("AttemptFrom") != nil
}

// isAdapter tells whether a function makes a guarded handler, or what makes one.
func isAdapter(fn *types.Func) bool {
	return fn.Pkg() != nil && (within(fn.Pkg().Path(), eventAdapters) || within(fn.Pkg().Path(), httpAdapter))
}

// isGuardCall tells whether a function runs work under a guard by itself: Guard.Serve, Do.
func isGuardCall(fn *types.Func) bool {
	return fn.Pkg() != nil && isGuardPackage(fn.Pkg()) && (fn.Name() == "Serve" || fn.Name() == "Do")
}

// isFrom tells whether a function is the one with a name of a package.
func isFrom(fn *types.Func, path string, names ...string) bool {
	if fn == nil || fn.Pkg() == nil || !within(fn.Pkg().Path(), path) {
		return false
	}
	for _, name := range names {
		if fn.Name() == name {
			return true
		}
	}
	return false
}

// named tells whether a type, or what it points to, is the one with a name of a package.
func named(t types.Type, path, name string) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == name && n.Obj().Pkg() != nil && within(n.Obj().Pkg().Path(), path)
}

// isAPIEvent tells whether a type is one of apiEvents.
func isAPIEvent(t types.Type) bool { return apiEvents[eventName(t)] }

// isAPIResponse tells whether a type is the response to one of apiEvents.
func isAPIResponse(t types.Type) bool {
	name, ok := strings.CutSuffix(eventName(t), "Response")
	return ok && apiEvents[name+"Request"]
}

// eventName is the name of a type of the events package, or of what it points to; "" for other types.
func eventName(t types.Type) string {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil || !within(n.Obj().Pkg().Path(), eventsPackage) {
		return ""
	}
	return n.Obj().Name()
}

// isMux tells whether a type is http.ServeMux, or a pointer to it. What a mux serves is judged route by route.
func isMux(t types.Type) bool { return t != nil && named(t, "net/http", "ServeMux") }

// isHandler tells whether a type is one that serves requests: a function with an API event or with a request and its
// writer, or a value with such a method.
func isHandler(t types.Type) bool {
	if t == nil {
		return false
	}
	if sig, ok := t.Underlying().(*types.Signature); ok {
		return servesRequest(sig)
	}
	for _, name := range []string{"ServeHTTP", "Invoke"} {
		if m, _, _ := types.LookupFieldOrMethod(t, true, nil, name); m != nil {
			_, ok := m.(*types.Func)
			return ok
		}
	}
	return false
}

// signature returns the signature of a function's type.
func signature(t types.Type) (*types.Signature, bool) {
	if t == nil {
		return nil, false
	}
	sig, ok := t.Underlying().(*types.Signature)
	return sig, ok
}

// hasAPIEvent tells whether a function takes an API event.
func hasAPIEvent(sig *types.Signature) bool {
	for p := range sig.Params().Variables() {
		if isAPIEvent(p.Type()) {
			return true
		}
	}
	return false
}

// answers tells whether a function can answer the request that it takes: it returns a response event, or something that may
// be one, or has the writer and the request of net/http.
func answers(sig *types.Signature) bool {
	for r := range sig.Results().Variables() {
		if _, isInterface := r.Type().Underlying().(*types.Interface); isInterface && r.Type().String() != "error" || isAPIResponse(r.Type()) {
			return true
		}
	}
	for p := range sig.Params().Variables() {
		if named(p.Type(), "net/http", "Request") {
			return true
		}
	}
	return false
}

// servesRequest tells whether a function's parameters are those of a handler.
func servesRequest(sig *types.Signature) bool {
	for p := range sig.Params().Variables() {
		if isAPIEvent(p.Type()) || named(p.Type(), "net/http", "ResponseWriter") {
			return true
		}
	}
	return false
}
