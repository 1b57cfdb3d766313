package lint

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// origin says what a string is made from.
type origin int

const (
	minted   origin = 1 << iota // new on each evaluation: a random number, a UUID
	clock                       // the time
	counter                     // a number that is counted up
	bodyHash                    // a hash of a request's body
	other                       // something that tells operations apart: a parameter, a field, what is not followed
)

// origins are all that a value is made from, and where it was minted.
type origins struct {
	set   origin
	mints []ast.Node
	hash  bool // inside a hash
}

func (o *origins) has(one origin) bool { return o.set&one != 0 }

// originsOf finds what a key is made from. A counter or a body beside something that tells operations apart makes a good
// key.
func (k *keys) originsOf(e ast.Expr) *origins {
	o := &origins{}
	k.steps = 0
	k.trace(e, o, nil)
	if o.has(other | minted) {
		o.set &^= counter | bodyHash
	}
	if o.has(minted) {
		o.set &^= clock // as in ULIDs
	}
	return o
}

// trace adds what an expression is made from.
func (k *keys) trace(e ast.Expr, o *origins, fr *frame) {
	if k.steps++; k.steps > maxSteps || fr.tooDeep() {
		o.set |= other
		return
	}
	if k.info.Types[e].Value != nil {
		return // a constant
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.BasicLit:
	case *ast.BinaryExpr:
		k.trace(e.X, o, fr)
		k.trace(e.Y, o, fr)
	case *ast.SliceExpr:
		k.trace(e.X, o, fr)
	case *ast.UnaryExpr:
		k.trace(e.X, o, fr)
	case *ast.CompositeLit:
		for _, element := range e.Elts {
			if kv, ok := element.(*ast.KeyValueExpr); ok {
				element = kv.Value
			}
			k.trace(element, o, fr)
		}
	case *ast.CallExpr:
		k.traceCall(e, o, fr)
	case *ast.Ident:
		k.traceVariable(e, o, fr)
	case *ast.SelectorExpr:
		if v := k.variable(e); v != nil && k.counts(v) {
			o.set |= counter
			return
		}
		o.set |= other
	default:
		o.set |= other
	}
}

func (k *keys) traceVariable(id *ast.Ident, o *origins, fr *frame) {
	v := k.variable(id)
	if v == nil {
		return // nil, true
	}
	if k.counts(v) {
		o.set |= counter
		return
	}
	if o.hash && k.isBody(v) {
		o.set |= bodyHash
		return
	}
	for inner := fr; inner != nil; inner = inner.outer {
		if args, ok := inner.args[v]; ok {
			for _, arg := range args {
				k.trace(arg, o, inner.caller)
			}
			return
		}
	}
	if at := k.filledBy(v, id.Pos()); at != nil {
		o.set |= minted
		o.mints = append(o.mints, at)
		return
	}
	before, complete := reaching(k.defs[v], id.Pos())
	if !complete || v.IsField() || k.opaque[v] {
		o.set |= other
	}
	for _, d := range before {
		k.trace(d.value, o, fr)
	}
	if !complete || len(before) > 1 {
		o.mints = nil // if key == "" { key = uuid.NewString() } makes one key
	}
}

// traceCall adds what a call's result is made from: known sources, formatting, and functions of this package.
func (k *keys) traceCall(c *ast.CallExpr, o *origins, fr *frame) {
	fn := k.callee(c)
	switch {
	case k.info.Types[c.Fun].IsType() || isBuiltin(k.info, c.Fun):
		k.traceAll(c.Args, o, fr)
	case fn == nil || fn.Pkg() == nil:
		o.set |= other
	case isFrom(fn, "time", "Now"):
		o.set |= clock
	case isFrom(fn, "sync/atomic", "AddInt32", "AddInt64", "AddUint32", "AddUint64", "Add"):
		o.set |= counter
	case mints(fn):
		o.set |= minted
		o.mints = append(o.mints, c)
	case isHash(fn):
		inside := &origins{hash: true}
		k.traceAll(c.Args, inside, fr)
		k.traceHasher(c, inside, fr)
		o.set |= inside.set
		o.mints = append(o.mints, inside.mints...)
	case formats(fn):
		k.traceAll(c.Args, o, fr)
		if s, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr); ok && fn.Signature().Recv() != nil {
			k.trace(s.X, o, fr)
		}
	default:
		k.traceFunction(c, o, fr)
	}
}

func (k *keys) traceAll(list []ast.Expr, o *origins, fr *frame) {
	for _, e := range list {
		k.trace(e, o, fr)
	}
}

// traceFunction adds what a function of this package returns.
func (k *keys) traceFunction(c *ast.CallExpr, o *origins, fr *frame) {
	run, ok := k.closure(c.Fun, fr)
	if !ok {
		o.set |= other
		return
	}
	bound := k.bind(run, c, fr)
	for _, r := range returnsOf(run.body) {
		before := len(o.mints)
		if len(r.Results) > 0 {
			k.trace(r.Results[0], o, bound)
		}
		for i := before; i < len(o.mints); i++ {
			o.mints[i] = c // as far as loops go, it is minted where the function is called
		}
	}
}

// traceHasher adds what was written to the hash whose Sum is called.
func (k *keys) traceHasher(c *ast.CallExpr, o *origins, fr *frame) {
	s, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	if !ok {
		return
	}
	hasher := k.variable(s.X)
	if hasher == nil {
		return
	}
	for _, w := range k.given[hasher] {
		if id := calleeName(w.Fun); id != nil && (id.Name == "Write" || id.Name == "WriteString" || id.Name == "Copy") && len(w.Args) > 0 {
			k.trace(w.Args[len(w.Args)-1], o, fr)
		}
	}
}

// counts tells whether a variable is a number that the package counts up.
func (k *keys) counts(v *types.Var) bool {
	b, ok := v.Type().Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0 && k.counted[v]
}

// isBody tells whether a variable is a request's body: by its name, or because it is marshalled and then sent.
func (k *keys) isBody(v *types.Var) bool {
	if name := strings.ToLower(v.Name()); strings.HasSuffix(name, "body") || strings.HasSuffix(name, "payload") {
		return true
	}
	for _, d := range k.defs[v] {
		if c, ok := ast.Unparen(d.value).(*ast.CallExpr); ok && isFrom(k.callee(c), "encoding/json", "Marshal") {
			return k.isRead(v)
		}
	}
	return false
}

// isRead tells whether bytes become a reader, as the body of a request does.
func (k *keys) isRead(v *types.Var) bool {
	return slices.ContainsFunc(k.given[v], func(c *ast.CallExpr) bool {
		return isFrom(k.callee(c), "bytes", "NewReader", "NewBuffer")
	})
}

// filledBy finds the call that fills a buffer with random bytes, before a place.
func (k *keys) filledBy(v *types.Var, before token.Pos) ast.Node {
	for _, c := range k.given[v] {
		if fn := k.callee(c); c.Pos() < before && (isFrom(fn, "rand", "Read") || isFrom(fn, "io", "ReadFull")) {
			return c
		}
	}
	return nil
}
