package lint

import (
	"go/ast"
	"go/token"
	"go/types"
	"sort"

	"golang.org/x/tools/go/analysis"
)

// index is what there is to follow in the files of a package. It is made for packages that need it alone.
type index struct {
	files   []*ast.File
	info    *types.Info
	pkg     *types.Package
	bodies  map[*types.Func]*ast.FuncDecl
	defs    map[*types.Var][]definition // by position; of variables and fields
	opaque  map[*types.Var]bool         // written to in ways that are not followed
	counted map[*types.Var]bool         // counted up, or an index
	calls   map[*types.Func][]*ast.CallExpr
	values  map[*types.Func]bool // functions that are used other than by calling them
	params  map[*types.Var]parameter
	every   []*ast.CallExpr                // all calls, in order
	given   map[*types.Var][]*ast.CallExpr // calls that a variable is an argument or the receiver of
}

// definition is one place where a variable gets a value.
type definition struct {
	value  ast.Expr
	result int       // which of the call's results, -1 for a single value
	parts  bool      // the variable becomes one of the value's elements
	pos    token.Pos // where the statement ends: the value is there from here on
	extent ast.Node  // what it stands in directly: there, it happens before what comes later
}

// parameter is a place in a function's parameter list.
type parameter struct {
	fn       *types.Func
	at       int
	variadic bool
}

func newIndex(pass *analysis.Pass, files []*ast.File) *index {
	x := &index{files: files, info: pass.TypesInfo, pkg: pass.Pkg, bodies: map[*types.Func]*ast.FuncDecl{},
		defs: map[*types.Var][]definition{}, opaque: map[*types.Var]bool{}, counted: map[*types.Var]bool{}, calls: map[*types.Func][]*ast.CallExpr{},
		values: map[*types.Func]bool{}, params: map[*types.Var]parameter{},
		given: map[*types.Var][]*ast.CallExpr{}}
	for _, f := range files {
		x.walk(f)
	}
	for _, d := range x.defs {
		sort.SliceStable(d, func(i, j int) bool { return d[i].pos < d[j].pos })
	}
	return x
}

// walk notes what a file defines. The stack holds the nodes above the one that is looked at.
func (x *index) walk(f *ast.File) {
	called := map[*ast.Ident]bool{}
	var stack []ast.Node
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		switch n := n.(type) {
		case *ast.FuncDecl:
			x.function(n)
		case *ast.CallExpr:
			x.call(n, called)
		case *ast.Ident:
			if fn, ok := x.info.Uses[n].(*types.Func); ok && !called[n] {
				x.values[fn.Origin()] = true
			}
		case *ast.UnaryExpr:
			if v := x.variable(n.X); n.Op == token.AND && v != nil {
				x.opaque[v] = x.opaque[v] || !isStruct(v.Type())
			}
		default:
			x.define(n, stack)
		}
		stack = append(stack, n)
		return true
	})
}

// call notes a call, and that its function's name does not stand for a value.
func (x *index) call(c *ast.CallExpr, called map[*ast.Ident]bool) {
	x.every = append(x.every, c)
	if id := calleeName(c.Fun); id != nil {
		called[id] = true
		if fn, ok := x.info.Uses[id].(*types.Func); ok {
			x.calls[fn.Origin()] = append(x.calls[fn.Origin()], c)
		}
	}
	parts := c.Args
	if s, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr); ok {
		parts = append([]ast.Expr{s.X}, parts...)
	}
	for _, e := range parts {
		if slice, ok := ast.Unparen(e).(*ast.SliceExpr); ok {
			e = slice.X
		}
		if v := x.variable(e); v != nil {
			x.given[v] = append(x.given[v], c)
		}
	}
}

func isStruct(t types.Type) bool {
	_, ok := t.Underlying().(*types.Struct)
	return ok
}

// function notes a declared function and its parameters.
func (x *index) function(d *ast.FuncDecl) {
	fn, ok := x.info.Defs[d.Name].(*types.Func)
	if !ok {
		return
	}
	x.bodies[fn] = d
	sig := fn.Signature()
	for i := range sig.Params().Len() {
		x.params[sig.Params().At(i)] = parameter{fn: fn, at: i, variadic: sig.Variadic() && i == sig.Params().Len()-1}
	}
}

// define notes the variables and fields that a node writes.
func (x *index) define(n ast.Node, stack []ast.Node) {
	at := definition{pos: n.End(), result: -1, extent: directly(stack)}
	switch n := n.(type) {
	case *ast.AssignStmt:
		x.assign(n.Lhs, n.Rhs, at, n.Tok != token.ASSIGN && n.Tok != token.DEFINE)
	case *ast.ValueSpec:
		names := make([]ast.Expr, len(n.Names))
		for i, name := range n.Names {
			names[i] = name
		}
		x.assign(names, n.Values, at, false)
	case *ast.IncDecStmt:
		x.hide(n.X)
	case *ast.RangeStmt:
		at.parts, at.pos, at.extent, at.value = true, n.Body.Pos(), n, n.X
		if n.Value != nil {
			x.put(n.Value, at)
		}
		if n.Key != nil {
			x.hide(n.Key)
		}
	case *ast.CompositeLit:
		x.literal(n, at)
	}
}

// assign notes an assignment or declaration; one that computes (+=) hides what the variable is.
func (x *index) assign(to, from []ast.Expr, at definition, computes bool) {
	for i, target := range to {
		switch {
		case computes:
			x.hide(target)
		case len(from) == len(to):
			at.value, at.result = from[i], -1
			x.put(target, at)
		case len(from) == 1:
			at.value, at.result = from[0], i
			x.put(target, at)
		}
	}
}

func (x *index) put(target ast.Expr, d definition) {
	if v := x.variable(target); v != nil {
		x.defs[v] = append(x.defs[v], d)
	} else if element, ok := ast.Unparen(target).(*ast.IndexExpr); ok {
		d.extent = nil // the other elements stay
		if v := x.variable(element.X); v != nil {
			x.defs[v] = append(x.defs[v], d)
		}
	}
}

// hide notes that a variable is computed: by ++, +=, or as the index of a loop.
func (x *index) hide(target ast.Expr) {
	if v := x.variable(target); v != nil {
		x.opaque[v], x.counted[v] = true, true
	}
}

// literal notes the fields that a composite literal of a struct sets.
func (x *index) literal(l *ast.CompositeLit, at definition) {
	t := x.info.TypeOf(l)
	if t == nil {
		return
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem() // an element of []*T{{…}}
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return
	}
	at.extent = nil
	for i, e := range l.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			at.value = kv.Value
			x.put(kv.Key, at)
		} else if i < s.NumFields() {
			at.value = e
			x.defs[s.Field(i)] = append(x.defs[s.Field(i)], at)
		}
	}
}

// variable returns the variable or field that an expression names, nil if it is none.
func (x *index) variable(e ast.Expr) *types.Var {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return asVariable(x.info.ObjectOf(e))
	case *ast.SelectorExpr:
		return asVariable(x.info.Uses[e.Sel])
	}
	return nil
}

// asVariable returns a variable; of a field of a generic type's instance, the generic field.
func asVariable(o types.Object) *types.Var {
	v, ok := o.(*types.Var)
	if !ok {
		return nil
	}
	return v.Origin()
}

// callee returns the function that a call names, nil if it calls a value.
func (x *index) callee(call *ast.CallExpr) *types.Func {
	id := calleeName(call.Fun)
	if id == nil {
		return nil
	}
	fn, _ := x.info.Uses[id].(*types.Func)
	if fn == nil {
		return nil
	}
	return fn.Origin()
}

// calleeName returns the identifier by which a call's function is named, nil if it is computed.
func calleeName(fun ast.Expr) *ast.Ident {
	switch f := ast.Unparen(fun).(type) {
	case *ast.Ident:
		return f
	case *ast.SelectorExpr:
		return f.Sel
	case *ast.IndexExpr:
		return calleeName(f.X)
	case *ast.IndexListExpr:
		return calleeName(f.X)
	}
	return nil
}

// directly returns what a statement stands in, by the nodes above it: a block, a clause, or the statement that it
// introduces.
func directly(stack []ast.Node) ast.Node {
	for i := len(stack) - 1; i >= 0; i-- {
		switch stack[i].(type) {
		case *ast.LabeledStmt, *ast.GenDecl, *ast.DeclStmt:
		default:
			return stack[i]
		}
	}
	return nil
}
