package lint

import (
	"go/ast"
	"go/token"
	"go/types"
)

// flow follows handler values through one package.
type flow struct {
	*index
	guards map[*types.Package]bool // memory of reachesGuard
	asked  map[parameter]verdict   // memory of parameter
	called map[calling]verdict     // memory of call
	steps  int                     // spent on the value that was asked for last
}

// frame binds the parameters of a function to the arguments of the call that is followed.
type frame struct {
	args   map[*types.Var][]ast.Expr
	caller *frame // where the arguments are evaluated
	outer  *frame // of the function around a function literal
	body   *ast.BlockStmt
	depth  int
}

// calling is one call as it is seen in a frame.
type calling struct {
	call   *ast.CallExpr
	result int
	*frame
}

// Limits of what is followed: code beyond them is unknown.
const (
	maxDepth = 24
	maxSteps = 5000
)

func newFlow(x *index) *flow {
	return &flow{index: x, guards: map[*types.Package]bool{}, asked: map[parameter]verdict{},
		called: map[calling]verdict{}}
}

// handler returns the verdict on the handler that an expression is. Nothing can guard in a program that imports no guard.
func (f *flow) handler(e ast.Expr) verdict {
	if f.pkg.Name() == "main" && !f.reachesGuard(f.pkg) {
		return bare
	}
	f.steps = 0
	return f.value(e, -1, nil)
}

// reachesGuard tells whether a package imports a guard, itself or through others. Imports of a package that was read from
// export data are those of its source and of its dependencies'.
func (f *flow) reachesGuard(p *types.Package) bool {
	if reaches, known := f.guards[p]; known {
		return reaches
	}
	f.guards[p] = isGuardPackage(p)
	for _, dep := range p.Imports() {
		lost := p == f.pkg && !dep.Complete() // an import that was not found may be anything
		if lost || f.reachesGuard(dep) {
			f.guards[p] = true
		}
	}
	return f.guards[p]
}

// value returns the verdict on one result of an expression, -1 where it has a single one.
func (f *flow) value(e ast.Expr, result int, fr *frame) verdict {
	if f.steps++; f.steps > maxSteps {
		return unknown
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.FuncLit:
		return f.body(e.Body, fr)
	case *ast.Ident:
		return f.object(f.info.ObjectOf(e), e, fr)
	case *ast.SelectorExpr:
		return f.selector(e, fr)
	case *ast.CallExpr:
		return f.remembered(calling{e, result, fr})
	case *ast.UnaryExpr:
		return f.value(e.X, -1, fr)
	case *ast.StarExpr:
		return f.value(e.X, -1, fr)
	case *ast.CompositeLit:
		return f.literal(e, fr)
	case *ast.IndexExpr:
		return f.value(e.X, -1, fr)
	case *ast.TypeAssertExpr:
		return f.value(e.X, -1, fr)
	}
	return unknown
}

// remembered returns the verdict on a call, which is followed once, unless that was given up.
func (f *flow) remembered(c calling) verdict {
	v, known := f.called[c]
	if !known {
		if v = f.call(c.call, c.result, c.frame); f.steps <= maxSteps {
			f.called[c] = v
		}
	}
	return v
}

// object returns the verdict on what a name stands for where it is used.
func (f *flow) object(o types.Object, use ast.Expr, fr *frame) verdict {
	switch o := o.(type) {
	case *types.Nil:
		return nothing
	case *types.Func:
		return f.function(o.Origin(), nil, fr)
	case *types.Var:
		return f.variableAt(o.Origin(), use, fr)
	}
	return unknown
}

func (f *flow) selector(e *ast.SelectorExpr, fr *frame) verdict {
	switch o := f.info.Uses[e.Sel].(type) {
	case *types.Func:
		return f.function(o.Origin(), e.X, fr)
	case *types.Var:
		return f.variableAt(o.Origin(), e, fr)
	}
	return unknown
}

// function returns the verdict on a function or method that is used as a handler.
func (f *flow) function(fn *types.Func, receiver ast.Expr, fr *frame) verdict {
	switch d := f.bodies[fn]; {
	case isAdapter(fn):
		return guarded
	case d != nil && d.Body != nil:
		return f.body(d.Body, fr)
	case fn.Pkg() == nil || f.reachesGuard(fn.Pkg()) || isInterfaceMethod(fn):
		return unknown
	case fn.Signature().Recv() != nil && receiver != nil:
		return both(bare, f.value(receiver, -1, fr)) // a method of something that may hold a guarded handler
	}
	return bare
}

// variableAt returns the verdict on a variable or field where it is used.
func (f *flow) variableAt(v *types.Var, use ast.Expr, fr *frame) verdict {
	switch {
	case isMux(v.Type()) || f.opaque[v] || v.Pkg() != f.pkg:
		return unknown
	case !v.IsField() && v.Parent() != f.pkg.Scope():
		return f.local(v, use.Pos(), fr)
	case len(f.defs[v]) == 0 || v.Exported() && f.pkg.Name() != "main":
		return unknown
	}
	all := nothing
	for _, d := range f.defs[v] {
		all = same(all, f.value(d.value, d.result, fr)) // set at a time that is not known
	}
	return all
}

// local returns the verdict on a local variable or parameter at a place.
func (f *flow) local(v *types.Var, at token.Pos, fr *frame) verdict {
	defs, all := f.defs[v], nothing
	before, complete := reaching(defs, at)
	for _, d := range before {
		all = either(all, f.value(d.value, d.result, fr))
	}
	if complete {
		return all
	}
	for inner := fr; inner != nil; inner = inner.outer {
		if args, ok := inner.args[v]; ok {
			return either(all, f.parts(args, inner.caller))
		}
	}
	switch p, ok := f.params[v]; {
	case ok:
		return either(all, f.parameter(p))
	case len(defs) == 0:
		return unknown // a parameter of a function literal
	case len(before) == 0: // used in a function that runs later
		for _, d := range defs {
			all = same(all, f.value(d.value, d.result, fr))
		}
	}
	return all
}

// reaching lists the definitions of a local variable that its value at a place may come from, the last one first, and
// tells whether there are no others.
func reaching(defs []definition, at token.Pos) (before []definition, complete bool) {
	for i := len(defs) - 1; i >= 0; i-- {
		d := defs[i]
		if d.pos > at {
			continue
		}
		before = append(before, d)
		if d.extent != nil && d.extent.Pos() <= at && at < d.extent.End() {
			return before, true
		}
	}
	return before, false
}

// parameter returns the verdict on a parameter of a function that is not followed from a call: what all its callers give.
func (f *flow) parameter(p parameter) verdict {
	if v, known := f.asked[p]; known {
		return v
	}
	calls := f.calls[p.fn]
	if p.variadic || f.values[p.fn] || len(calls) == 0 || p.fn.Exported() && f.pkg.Name() != "main" {
		return unknown
	}
	f.asked[p] = nothing // while it is asked for: a function that hands it to itself adds nothing
	all := nothing
	for _, c := range calls {
		if p.at >= len(c.Args) || all == unknown {
			all = unknown
			break
		}
		all = same(all, f.value(c.Args[p.at], -1, nil))
	}
	f.asked[p] = all
	return all
}

// parts returns the verdict on a value that is made of all of these.
func (f *flow) parts(list []ast.Expr, fr *frame) verdict {
	all := nothing
	for _, e := range list {
		if f.carries(e) {
			all = both(all, f.value(e, -1, fr))
		}
	}
	return all
}

// literal returns the verdict on a composite literal: a list of middlewares, or a value that serves requests.
func (f *flow) literal(l *ast.CompositeLit, fr *frame) verdict {
	t := f.info.TypeOf(l)
	if t == nil {
		return unknown
	}
	var parts []ast.Expr
	for _, e := range l.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			e = kv.Value
		}
		parts = append(parts, e)
	}
	all := f.parts(parts, fr)
	if fn := servingMethod(t); all != guarded && fn != nil {
		return both(all, f.function(fn, nil, fr))
	}
	return all
}

// servingMethod returns the method by which a value of a type serves requests, nil if it has none.
func servingMethod(t types.Type) *types.Func {
	for _, name := range []string{"ServeHTTP", "Invoke"} {
		if m, _, _ := types.LookupFieldOrMethod(t, true, nil, name); m != nil {
			if fn, ok := m.(*types.Func); ok {
				return fn.Origin()
			}
		}
	}
	return nil
}

// carries tells whether a value may hold a handler, a guard, or what makes one of the other. Plain data does not.
func (f *flow) carries(e ast.Expr) bool {
	t := f.info.TypeOf(e)
	if t == nil {
		return true
	}
	if tuple, ok := t.(*types.Tuple); ok {
		return tuple.Len() > 0
	}
	return holdsHandler(t, 3)
}

// holdsHandler looks so many levels into a type.
func holdsHandler(t types.Type, depth int) bool {
	if isHandler(t) || isMux(t) || named(t, rootPackage, "Guard") {
		return true
	}
	if depth == 0 {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Signature, *types.TypeParam:
		return true
	case *types.Interface:
		return u.Empty()
	case *types.Slice:
		return holdsHandler(u.Elem(), depth-1)
	case *types.Map:
		return holdsHandler(u.Elem(), depth-1)
	case *types.Pointer:
		return holdsHandler(u.Elem(), depth-1)
	case *types.Struct:
		for field := range u.Fields() {
			if holdsHandler(field.Type(), depth-1) {
				return true
			}
		}
	}
	return false
}
