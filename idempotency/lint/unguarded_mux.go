package lint

import (
	"go/ast"
	"maps"
)

// muxes are where muxes are made and kept: calls of NewServeMux, literals, variables.
type muxes map[any]bool

// guardedMuxes finds the muxes that a guard wraps as a whole, in this package.
func (f *flow) guardedMuxes() muxes {
	found := muxes{}
	for _, c := range f.every {
		if !f.takesMux(c) {
			continue
		}
		wrapped := muxes{}
		f.muxesOf(c.Args[0], wrapped, 0)
		if f.steps = 0; len(wrapped) > 0 && f.value(c.Fun, -1, nil) == guarded {
			maps.Copy(found, wrapped)
		}
	}
	return found
}

// registersAt tells whether a registration is one with a mux among others.
func (f *flow) registersAt(registration *ast.CallExpr, others muxes) bool {
	s, ok := ast.Unparen(registration.Fun).(*ast.SelectorExpr)
	if !ok || len(others) == 0 {
		return false
	}
	mine := muxes{}
	f.muxesOf(s.X, mine, 0)
	for origin := range mine {
		if others[origin] {
			return true
		}
	}
	return false
}

// takesMux tells whether a call may be that of a middleware with a mux: its one argument serves requests.
func (f *flow) takesMux(c *ast.CallExpr) bool {
	if len(c.Args) != 1 {
		return false
	}
	t := f.info.TypeOf(c.Args[0])
	return isMux(t) || t != nil && isHandler(t)
}

// muxesOf adds the places where the muxes that an expression is made of are made.
func (f *flow) muxesOf(e ast.Expr, found muxes, depth int) {
	if depth > maxDepth {
		return
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		f.muxesOfCall(e, found, depth+1)
	case *ast.UnaryExpr:
		f.muxesOf(e.X, found, depth+1)
	case *ast.CompositeLit:
		found[e] = true
	case *ast.Ident, *ast.SelectorExpr:
		v := f.variable(e)
		if v == nil || found[v] {
			return
		}
		found[v] = true
		if p, ok := f.params[v]; ok {
			for _, c := range f.calls[p.fn] {
				if p.at < len(c.Args) {
					f.muxesOf(c.Args[p.at], found, depth+1)
				}
			}
		}
		for _, d := range f.defs[v] {
			f.muxesOf(d.value, found, depth+1)
		}
	}
}

func (f *flow) muxesOfCall(c *ast.CallExpr, found muxes, depth int) {
	if isFrom(f.callee(c), "net/http", "NewServeMux") {
		found[c] = true
		return
	}
	for _, arg := range c.Args {
		if f.carries(arg) {
			f.muxesOf(arg, found, depth)
		}
	}
	if fn := f.callee(c); fn != nil && f.bodies[fn] != nil && f.bodies[fn].Body != nil && !found[fn] {
		found[fn] = true
		for _, r := range returnsOf(f.bodies[fn].Body) {
			for _, result := range r.Results {
				f.muxesOf(result, found, depth)
			}
		}
	}
}
