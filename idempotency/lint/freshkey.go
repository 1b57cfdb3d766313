package lint

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
)

func newFreshKey() *analysis.Analyzer {
	return &analysis.Analyzer{Name: "freshkey", Doc: page("freshkey"), RunDespiteErrors: true,
		Run: func(pass *analysis.Pass) (any, error) {
			files := sources(pass)
			if imports(files, isClient) && mentionsKey(files) {
				k := newKeys(newIndex(pass, files))
				k.check(newReporter(pass, "freshkey", files))
			}
			return nil, nil
		}}
}

// isClient tells whether a package can send requests with a header.
func isClient(path string) bool {
	return path == "net/http" || strings.Contains(path, "/resty") || strings.Contains(path, "/fasthttp") ||
		strings.HasPrefix(path, "github.com/stripe/stripe-go")
}

// mentionsKey tells whether a name of the header, spelt somehow, is in the files at all: most packages need no more work.
func mentionsKey(files []*ast.File) bool {
	found := false
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				found = found || n.Kind == token.STRING && strings.Contains(strings.ToLower(n.Value), "idempotency")
			case *ast.Ident:
				found = found || strings.Contains(strings.ToLower(n.Name), "idempotency")
			}
			return !found
		})
	}
	return found
}

// isKeyHeader tells whether a header carries idempotency keys.
func isKeyHeader(name string) bool {
	return strings.EqualFold(name, "Idempotency-Key") || strings.EqualFold(name, "X-Idempotency-Key")
}

// keys follows the values that a package sets the header to.
type keys struct {
	*flow
	sinks []sink
	sent  map[*ast.FuncDecl]bool // memory of sends
}

// sink is a place where a key is set.
type sink struct {
	at    ast.Node
	value ast.Expr
}

func newKeys(x *index) *keys {
	k := &keys{flow: newFlow(x), sent: map[*ast.FuncDecl]bool{}}
	for _, f := range x.files {
		ast.Inspect(f, func(n ast.Node) bool {
			if value := k.keyValue(n); value != nil {
				k.sinks = append(k.sinks, sink{n, value})
			}
			return true
		})
	}
	k.followParameters()
	return k
}

// followParameters adds the calls that give a function the key that it sets.
func (k *keys) followParameters() {
	seen := map[*types.Var]bool{}
	for i := 0; i < len(k.sinks); i++ {
		v := k.variable(k.sinks[i].value)
		p, ok := k.params[v]
		if !ok || seen[v] {
			continue
		}
		seen[v] = true
		for _, c := range k.calls[p.fn] {
			if p.at < len(c.Args) && !p.variadic {
				k.sinks = append(k.sinks, sink{c, c.Args[p.at]})
			}
		}
	}
}

// keyValue returns the key that a node sets, nil if it sets none: a call like Header.Set, an element of a header map, a
// setter of that name.
func (k *keys) keyValue(n ast.Node) ast.Expr {
	switch n := n.(type) {
	case *ast.CallExpr:
		if len(n.Args) == 2 && isKeyHeader(k.constant(n.Args[0])) && setsHeader(n) {
			return n.Args[1]
		}
		if id := calleeName(n.Fun); id != nil && id.Name == "SetIdempotencyKey" && len(n.Args) == 1 {
			return n.Args[0]
		}
	case *ast.KeyValueExpr:
		if isKeyHeader(k.constant(n.Key)) {
			return n.Value
		}
	case *ast.AssignStmt:
		if index, ok := ast.Unparen(n.Lhs[0]).(*ast.IndexExpr); ok && len(n.Rhs) == 1 && isKeyHeader(k.constant(index.Index)) {
			return n.Rhs[0]
		}
	}
	return nil
}

// setsHeader tells whether a call with a header's name and a value is one that sets it, by its name: net/http and the
// clients that look like it.
func setsHeader(c *ast.CallExpr) bool {
	id := calleeName(c.Fun)
	if id == nil {
		return false
	}
	switch id.Name {
	case "Set", "Add", "SetHeader", "AddHeader", "WithHeader", "SetHeaderVerbatim":
		return true
	}
	return false
}

// check reports the keys that do not survive a retry, or that operations share.
func (k *keys) check(r *reporter) {
	for _, s := range k.sinks {
		from := k.originsOf(s.value)
		switch {
		case from.has(clock):
			r.reportf(s.at.Pos(), "this key is made from the time: a retry that makes it again sends another key, and takes effect again; make the key once for each operation, at random, and keep it")
		case from.has(counter):
			r.reportf(s.at.Pos(), "this key is made from a counter: after a restart, and in other processes, it stands for another operation, and during retries it may be another one; make the key once for each operation, at random, and keep it")
		case from.has(bodyHash):
			r.reportf(s.at.Pos(), "this key is a hash of the body: two operations that are meant to be the same (a second coffee) take effect once; make the key once for each operation, at random, and keep it")
		case from.has(minted):
			k.checkLoops(r, s, from)
		}
	}
}
