package lint

import (
	"go/ast"
	"go/constant"
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// unguarded is the rule of that name.
type unguarded struct {
	template templateFlag
}

func newUnguarded() *analysis.Analyzer {
	u := &unguarded{}
	a := &analysis.Analyzer{Name: "unguarded", Doc: page("unguarded"), RunDespiteErrors: true, Run: u.run,
		ResultType: undecidedType}
	a.Flags.Var(&u.template, "template", "SAM template whose POST, PATCH and ANY routes must be guarded")
	return a
}

func (u *unguarded) run(pass *analysis.Pass) (any, error) {
	var undecided *Undecided
	files := sources(pass)
	routed, err := u.template.function(pass)
	if err != nil {
		return nil, err
	}
	if routed == nil && !imports(files, servesRequests) {
		return undecided, nil
	}
	r := newReporter(pass, "unguarded", files)
	f := newFlow(newIndex(pass, files))
	started := f.starts()
	if routed != nil {
		undecided = routed.check(pass, started, f.started(started))
	}
	if routed == nil || !routed.onlyReads() {
		r.checkStarts(started)
	}
	f.checkRoutes(r)
	return undecided, nil
}

// servesRequests tells whether a package can start or register a handler.
func servesRequests(path string) bool {
	return path == "net/http" || within(path, lambdaPackage) || within(path, urlPackage)
}

// checkStarts reports the handlers of API requests that are started without a guard.
func (r *reporter) checkStarts(started []start) {
	for _, s := range started {
		if s.api && s.verdict == bare {
			r.reportf(s.call.Pos(), "%s runs a handler of API requests without a guard: a request that is sent twice takes effect twice; "+
				"wrap it with the adapter of its events, e.g. apigateway.HTTP(guard, handler)", s.name)
		}
	}
}

// start is a place where a Lambda handler is started.
type start struct {
	call    *ast.CallExpr
	name    string // "lambda.Start"
	verdict verdict
	api     bool // it is known to answer requests of clients
}

// starts lists the handlers that the package starts. What is only made for another start is judged where it is made.
func (f *flow) starts() []start {
	var all []start
	for _, c := range f.every {
		fn := f.callee(c)
		if fn == nil || fn.Pkg() == nil || fn.Signature().Recv() != nil {
			continue
		}
		at, isStart := starters[fn.Name()]
		isURL := isFrom(fn, urlPackage, "Start", "Wrap")
		if isURL {
			at, isStart = 0, true
		}
		if !isStart || !isURL && !within(fn.Pkg().Path(), lambdaPackage) || at >= len(c.Args) || f.isStart(c.Args[at]) {
			continue
		}
		handler := c.Args[at]
		all = append(all, start{call: c, name: fn.Pkg().Name() + "." + fn.Name(), verdict: f.handler(handler),
			api: isURL && !isMux(f.info.TypeOf(handler)) || f.takesAPIEvent(handler)})
	}
	return all
}

// isStart tells whether an expression is a call that makes a Lambda handler.
func (f *flow) isStart(e ast.Expr) bool {
	c, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return false
	}
	fn := f.callee(c)
	return isFrom(fn, lambdaPackage, "NewHandler", "NewHandlerWithOptions") || isFrom(fn, urlPackage, "Wrap")
}

// takesAPIEvent tells whether a handler is one of API events; where a wrapper hides it, what it wraps is looked at.
func (f *flow) takesAPIEvent(e ast.Expr) bool {
	if f.steps++; f.steps > maxSteps {
		return false
	}
	if sig, ok := signature(f.info.TypeOf(e)); ok {
		return hasAPIEvent(sig)
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		for _, arg := range e.Args {
			if f.takesAPIEvent(arg) {
				return true
			}
		}
	case *ast.Ident:
		if v := f.variable(e); v != nil {
			for _, d := range f.defs[v] {
				if f.takesAPIEvent(d.value) {
					return true
				}
			}
		}
	}
	return false
}

// checkRoutes reports the POST and PATCH patterns of the package's muxes whose handler is not guarded.
func (f *flow) checkRoutes(r *reporter) {
	wrapped := f.guardedMuxes()
	for _, c := range f.every {
		if fn := f.callee(c); !isFrom(fn, "net/http", "Handle", "HandleFunc") || len(c.Args) != 2 {
			continue
		}
		method := f.method(c.Args[0])
		if method != "POST" && method != "PATCH" {
			continue
		}
		if f.handler(c.Args[1]) == bare && !f.registersAt(c, wrapped) {
			r.reportf(c.Pos(), "the handler of %s runs without a guard: a request that is sent twice takes effect twice; wrap it with httpserver.Middleware", f.shown(c.Args[0]))
		}
	}
}

// method returns the method of a pattern for a mux, as far as it is constant from its beginning; "" if it has none.
func (f *flow) method(pattern ast.Expr) string {
	method, rest, ok := strings.Cut(strings.ReplaceAll(f.prefix(pattern), "\t", " "), " ")
	if !ok || rest == "" && f.constant(pattern) != "" {
		return ""
	}
	return method
}

// prefix returns the constant beginning of a string.
func (f *flow) prefix(e ast.Expr) string {
	if text := f.constant(e); text != "" {
		return text
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return f.prefix(e.X)
		}
	case *ast.CallExpr:
		if isFrom(f.callee(e), "fmt", "Sprintf") && len(e.Args) > 0 {
			before, _, _ := strings.Cut(f.constant(e.Args[0]), "%")
			return before
		}
	}
	return ""
}

// constant returns the value of a constant string, "" if an expression is none.
func (f *flow) constant(e ast.Expr) string {
	if v := f.info.Types[e].Value; v != nil && v.Kind() == constant.String {
		return constant.StringVal(v)
	}
	return ""
}

// shown is a pattern as a message has it.
func (f *flow) shown(pattern ast.Expr) string {
	if text := f.constant(pattern); text != "" {
		return text
	}
	return f.prefix(pattern) + "…"
}
