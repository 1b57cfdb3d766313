package lint

import (
	"go/ast"
	"go/types"
)

// passive are the handlers of net/http that change nothing.
var passive = []string{"NotFoundHandler", "FileServer", "FileServerFS", "RedirectHandler"}

// call returns the verdict on one result of a call: a guard around a handler, a wrapper, a constructor.
func (f *flow) call(c *ast.CallExpr, result int, fr *frame) verdict {
	fn := f.callee(c)
	switch {
	case f.info.Types[c.Fun].IsType():
		return f.parts(c.Args, fr) // a conversion
	case fn != nil && isAdapter(fn):
		return guarded
	case isFrom(fn, "net/http", passive...):
		return nothing
	case isMux(f.info.TypeOf(c)):
		return unknown
	}
	given := f.parts(c.Args, fr)
	if s, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr); ok && f.carries(s.X) {
		given = both(given, f.value(s.X, -1, fr)) // alice.New(guard).Then(h)
	}
	if given == guarded {
		return guarded // what wraps a guarded handler is guarded
	}
	if run, ok := f.closure(c.Fun, fr); ok {
		return f.returned(run, result, f.bind(run, c, fr))
	}
	switch {
	case fn == nil && f.value(c.Fun, -1, fr) == guarded:
		return guarded
	case fn == nil, given == unknown, isInterfaceMethod(fn), fn.Pkg() == nil, f.reachesGuard(fn.Pkg()):
		return unknown
	}
	return bare // made by a package that cannot guard, of parts that are not guarded
}

func isInterfaceMethod(fn *types.Func) bool {
	recv := fn.Signature().Recv()
	return recv != nil && types.IsInterface(recv.Type())
}

// code is a function whose source is at hand, and what its free variables are bound to.
type code struct {
	kind *ast.FuncType
	body *ast.BlockStmt
	*frame
}

// closure finds the one function that an expression is, if there is no doubt.
func (f *flow) closure(e ast.Expr, fr *frame) (code, bool) {
	if f.steps++; f.steps > maxSteps || fr.tooDeep() {
		return code{}, false
	}
	e = ast.Unparen(e)
	if c, ok := e.(*ast.CallExpr); ok {
		return f.closureOf(c, fr)
	}
	if lit, ok := e.(*ast.FuncLit); ok {
		return code{lit.Type, lit.Body, fr}, true
	}
	if id := calleeName(e); id != nil {
		if fn, ok := f.info.Uses[id].(*types.Func); ok {
			d := f.bodies[fn.Origin()]
			if d == nil || d.Body == nil {
				return code{}, false
			}
			return code{d.Type, d.Body, fr}, true
		}
	}
	v := f.variable(e)
	if v == nil || f.opaque[v] || len(f.defs[v]) != 1 || f.defs[v][0].result >= 0 || f.defs[v][0].parts {
		return code{}, false
	}
	return f.closure(f.defs[v][0].value, fr)
}

// closureOf finds the function that a call returns: a middleware with settings, or a conversion.
func (f *flow) closureOf(c *ast.CallExpr, fr *frame) (code, bool) {
	if f.info.Types[c.Fun].IsType() && len(c.Args) == 1 {
		return f.closure(c.Args[0], fr)
	}
	made, ok := f.closure(c.Fun, fr)
	if !ok {
		return code{}, false
	}
	returns := returnsOf(made.body)
	if len(returns) != 1 || len(returns[0].Results) != 1 {
		return code{}, false
	}
	return f.closure(returns[0].Results[0], f.bind(made, c, fr))
}

func (fr *frame) tooDeep() bool { return fr != nil && fr.depth > maxDepth }

// runs tells whether a function is among those that are followed already.
func (fr *frame) runs(body *ast.BlockStmt) bool {
	for ; fr != nil; fr = fr.caller {
		if fr.body == body {
			return true
		}
	}
	return false
}

// bind binds a function's parameters to a call's arguments, which are evaluated in the caller's frame.
func (f *flow) bind(run code, c *ast.CallExpr, caller *frame) *frame {
	bound := &frame{args: map[*types.Var][]ast.Expr{}, caller: caller, outer: run.frame, body: run.body, depth: 1}
	if caller != nil {
		bound.depth = caller.depth + 1
	}
	at := 0
	for _, field := range run.kind.Params.List {
		_, variadic := field.Type.(*ast.Ellipsis)
		for _, name := range field.Names {
			v, _ := f.info.Defs[name].(*types.Var)
			switch {
			case v == nil:
			case len(c.Args) == 1 && run.kind.Params.NumFields() > 1: // f(g())
				bound.args[v] = c.Args
			case variadic:
				bound.args[v] = c.Args[min(at, len(c.Args)):]
			case at < len(c.Args):
				bound.args[v] = c.Args[at : at+1]
			}
			at++
		}
	}
	return bound
}

// returned returns the verdict on one result of a function, -1 for all of them together.
func (f *flow) returned(run code, result int, fr *frame) verdict {
	if fr.tooDeep() {
		return unknown
	}
	all := nothing
	for _, r := range returnsOf(run.body) {
		switch {
		case len(r.Results) == 0:
			all = either(all, f.namedResult(run, result, r, fr))
		case result < 0:
			all = either(all, f.parts(r.Results, fr))
		case len(r.Results) == 1 && result > 0:
			all = either(all, f.value(r.Results[0], result, fr)) // return g()
		case len(r.Results) == 1:
			all = either(all, f.value(r.Results[0], tupleIndex(f.info.TypeOf(r.Results[0])), fr))
		case result < len(r.Results):
			all = either(all, f.value(r.Results[result], -1, fr))
		}
	}
	return all
}

// tupleIndex is the index of the first result of a call that has several, else -1.
func tupleIndex(t types.Type) int {
	if _, ok := t.(*types.Tuple); ok {
		return 0
	}
	return -1
}

// namedResult returns the verdict on a result that a return without values returns.
func (f *flow) namedResult(run code, result int, r *ast.ReturnStmt, fr *frame) verdict {
	if run.kind.Results == nil {
		return nothing
	}
	at := 0
	for _, field := range run.kind.Results.List {
		for _, name := range field.Names {
			if v, ok := f.info.Defs[name].(*types.Var); ok && at == max(result, 0) {
				return f.local(v, r.Pos(), fr)
			}
			at++
		}
	}
	return unknown
}

// returnsOf lists the return statements of a function, without those of functions inside it.
func returnsOf(body *ast.BlockStmt) (all []*ast.ReturnStmt) {
	ast.Inspect(body, func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStmt); ok {
			all = append(all, r)
		}
		_, inner := n.(*ast.FuncLit)
		return !inner
	})
	return all
}

// body returns the verdict on a handler by what it calls. One that hands the request to a guarded handler, or to one that
// is not known, or calls the guard by itself, has seen to it.
func (f *flow) body(body *ast.BlockStmt, fr *frame) verdict {
	if fr.tooDeep() {
		return unknown
	}
	all := bare
	ast.Inspect(body, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && all != guarded {
			if f.steps++; f.steps > maxSteps {
				all = both(all, unknown)
				return false
			}
			all = both(all, f.handsOn(c, fr))
		}
		return all != guarded
	})
	return all
}

// handsOn returns the verdict on the handler that a call gives the request to; nothing if it does not.
func (f *flow) handsOn(c *ast.CallExpr, fr *frame) verdict {
	fn := f.callee(c)
	if fn != nil && (isAdapter(fn) || isGuardCall(fn)) {
		return guarded
	}
	sig, ok := signature(f.info.TypeOf(c.Fun))
	if !ok || !servesRequest(sig) {
		return nothing
	}
	if run, ok := f.closure(c.Fun, fr); ok {
		if fr.runs(run.body) {
			return nothing // it calls itself
		}
		return f.body(run.body, f.bind(run, c, fr))
	}
	s, isSelector := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	switch {
	case !answers(sig):
		return nothing // it looks at the request
	case fn == nil:
		return f.value(c.Fun, -1, fr)
	case isSelector && fn.Signature().Recv() != nil:
		return f.value(s.X, -1, fr) // next.ServeHTTP(w, r)
	case fn.Pkg() == nil || f.reachesGuard(fn.Pkg()):
		return unknown
	}
	return nothing
}
