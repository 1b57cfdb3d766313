package lint

import (
	"go/ast"
	"go/token"
	"go/types"
	"sort"
	"strings"
)

// checkLoops reports a key that is minted anew on each turn of a retry loop: in the loop itself, or in the function that
// the loop calls.
func (k *keys) checkLoops(r *reporter, s sink, from *origins) {
	for _, at := range from.mints {
		if k.retried(k.around(at), s.at) {
			r.reportf(s.at.Pos(), "this key is made anew on each attempt, so that a retry takes effect again; make it before the loop")
			return
		}
	}
	if fn := k.enclosing(s.at); fn != nil && k.isPrivateTo(from, fn) {
		k.checkCallers(r, fn, fn.Name.Name, 0)
	}
}

// checkCallers reports the retry loops that call a function which makes a key, directly or by way of others.
func (k *keys) checkCallers(r *reporter, fn *ast.FuncDecl, culprit string, depth int) {
	declared, _ := k.info.Defs[fn.Name].(*types.Func)
	for _, c := range k.calls[declared] {
		if k.retried(k.around(c), c) {
			r.reportf(c.Pos(), "%s makes a new key on each attempt, so that a retry takes effect again; make the key before the loop and hand it over", culprit)
		} else if outer := k.enclosing(c); outer != nil && depth < 3 {
			k.checkCallers(r, outer, culprit, depth+1)
		}
	}
}

// isPrivateTo tells whether a key is minted, on each call, in the function that sets it.
func (k *keys) isPrivateTo(from *origins, fn *ast.FuncDecl) bool {
	for _, at := range from.mints {
		if at.Pos() < fn.Pos() || at.End() > fn.End() {
			return false
		}
	}
	return len(from.mints) > 0
}

// around lists the nodes that a node stands in, from the declaration inwards.
func (k *keys) around(n ast.Node) (path []ast.Node) {
	for _, f := range k.files {
		if n.Pos() < f.FileStart || f.FileEnd <= n.Pos() {
			continue
		}
		i := sort.Search(len(f.Decls), func(i int) bool { return f.Decls[i].End() >= n.End() })
		if i == len(f.Decls) {
			return nil
		}
		ast.Inspect(f.Decls[i], func(outer ast.Node) bool {
			if outer == nil || outer.Pos() > n.Pos() || outer.End() < n.End() {
				return false
			}
			path = append(path, outer)
			return true
		})
	}
	return path
}

// enclosing returns the declared function that a node stands in.
func (k *keys) enclosing(n ast.Node) *ast.FuncDecl {
	for _, outer := range k.around(n) {
		if fn, ok := outer.(*ast.FuncDecl); ok {
			return fn
		}
	}
	return nil
}

// retried tells whether the innermost loop around a node repeats one request until it succeeds, and has also the place
// where the key is set inside.
func (k *keys) retried(path []ast.Node, set ast.Node) bool {
	for i := len(path) - 1; i >= 0; i-- {
		outer := path[i]
		if set.Pos() < outer.Pos() || set.End() > outer.End() {
			continue
		}
		switch outer := outer.(type) {
		case *ast.ForStmt:
			return k.repeats(outer.Body)
		case *ast.RangeStmt:
			return k.countsTurns(outer) && k.repeats(outer.Body)
		case *ast.FuncLit:
			return i > 0 && retries(path[i-1], outer) && k.sends(outer.Body)
		case *ast.FuncDecl:
			return false
		}
	}
	return false
}

// countsTurns tells whether a range loop counts, as attempts are counted, rather than going over a list of operations.
func (k *keys) countsTurns(r *ast.RangeStmt) bool {
	t := k.info.TypeOf(r.X)
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

// retries tells whether a function literal is given to a function that retries, by its name: retry.Do, backoff.Retry.
func retries(n ast.Node, lit *ast.FuncLit) bool {
	c, ok := n.(*ast.CallExpr)
	if !ok || c.Fun == lit {
		return false
	}
	name := ""
	if s, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr); ok {
		if x, ok := s.X.(*ast.Ident); ok {
			name = x.Name
		}
	}
	if id := calleeName(c.Fun); id != nil {
		name += id.Name
	}
	name = strings.ToLower(name)
	return strings.Contains(name, "retry") || strings.Contains(name, "backoff")
}

// repeats tells whether the body of a loop sends a request and ends the loop when that has succeeded. A loop that ends on
// errors alone does something new on each turn.
func (k *keys) repeats(body *ast.BlockStmt) bool {
	return k.sends(body) && endsOnSuccess(body.List, false)
}

// sends tells whether code sends a request, itself or by a function of this package.
func (k *keys) sends(body ast.Node) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && !found {
			found = k.isSend(c)
		}
		return !found
	})
	return found
}

func (k *keys) isSend(c *ast.CallExpr) bool {
	fn := k.callee(c)
	if fn == nil {
		return false
	}
	if d := k.bodies[fn]; d != nil && d.Body != nil {
		if sent, known := k.sent[d]; known {
			return sent
		}
		k.sent[d] = false // of a function that calls itself
		k.sent[d] = k.sends(d.Body)
		return k.sent[d]
	}
	if fn.Pkg() == nil || fn.Pkg().Path() == "sync" {
		return false
	}
	switch fn.Name() {
	case "Do", "Post", "PostForm", "RoundTrip", "Execute", "Patch", "Send":
		return true
	}
	return false
}

// endsOnSuccess tells whether one of the statements of a loop can leave it other than because of an error.
func endsOnSuccess(list []ast.Stmt, inSwitch bool) bool {
	for _, s := range list {
		if leaves(s, inSwitch) {
			return true
		}
	}
	return false
}

func leaves(s ast.Stmt, inSwitch bool) bool {
	switch s := s.(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return s.Tok == token.BREAK && (!inSwitch || s.Label != nil) || s.Tok == token.GOTO
	case *ast.IfStmt:
		return !onError(s.Cond) && endsOnSuccess(s.Body.List, inSwitch) || s.Else != nil && leaves(s.Else, inSwitch)
	case *ast.BlockStmt:
		return endsOnSuccess(s.List, inSwitch)
	case *ast.SwitchStmt:
		return endsOnSuccess(s.Body.List, true)
	case *ast.CaseClause:
		return endsOnSuccess(s.Body, true)
	}
	return false
}

// onError tells whether a condition holds only if there is an error: err != nil, alone or with more.
func onError(cond ast.Expr) bool {
	b, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	if !ok {
		return false
	}
	switch b.Op {
	case token.LAND:
		return onError(b.X) || onError(b.Y)
	case token.NEQ:
		id, ok := ast.Unparen(b.Y).(*ast.Ident)
		return ok && id.Name == "nil"
	}
	return false
}
