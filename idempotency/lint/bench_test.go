package lint

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/packages"
)

// generated returns a package of about so many lines in which every rule has work to do: routes behind several wrappers,
// handlers that call each other, keys from functions in loops.
func generated(lines int) string {
	var b strings.Builder
	b.WriteString(`package generated
import ("net/http"; "strconv"; "time"; "firstwriter/idempotency/httpserver")
func wrap(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(w, r) })
}
func serve(mux *http.ServeMux) { http.ListenAndServe(":1", httpserver.Middleware(nil, httpserver.Options{})(mux)) }
`)
	n := lines / 150 * 10
	for i := range n {
		fmt.Fprintf(&b, `func routes%[1]d(mux *http.ServeMux) {
	mux.Handle("POST /r%[1]d", wrap(wrap(http.HandlerFunc(h%[1]d))))
}
func h%[1]d(w http.ResponseWriter, r *http.Request) {
	for a := 0; a < 3; a++ {
		req, _ := http.NewRequest("POST", "http://example.com", nil)
		req.Header.Set("Idempotency-Key", key%[1]d(a))
		if _, err := http.DefaultClient.Do(req); err == nil {
			return
		}
	}
	if r.Body == nil {
		h%[2]d(w, r)
	}
}
func key%[1]d(a int) string { return strconv.Itoa(a) + time.Now().String() }
`, i, min(i-i%10+9, i+1)) // h9 calls itself
	}
	return b.String()
}

// pass parses and checks a package of one file, as a driver does.
func pass(t testing.TB, source string) *analysis.Pass {
	t.Helper()
	deps, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports},
		"net/http", "strconv", "time", "firstwriter/idempotency/httpserver")
	if err != nil {
		t.Fatal(err)
	}
	byPath := map[string]*types.Package{}
	for _, p := range deps {
		byPath[p.PkgPath] = p.Types
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "generated.go", source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}}
	conf := types.Config{Importer: importer(byPath)}
	pkg, err := conf.Check("generated", fset, []*ast.File{file}, info)
	if err != nil {
		t.Fatal(err)
	}
	return &analysis.Pass{Fset: fset, Files: []*ast.File{file}, Pkg: pkg, TypesInfo: info}
}

type importer map[string]*types.Package

func (i importer) Import(path string) (*types.Package, error) { return i[path], nil }

// BenchmarkLargePackage runs all rules over a package of 100,000 lines that is loaded already. The issue allows 10 s, with
// loading.
func BenchmarkLargePackage(b *testing.B) {
	p := pass(b, generated(100_000))
	for b.Loop() {
		found := 0
		p.Report = func(analysis.Diagnostic) { found++ }
		for _, a := range Analyzers() {
			if _, err := a.Run(p); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(found), "findings")
	}
}

// TestGenerated keeps the benchmark honest: each of the generated handlers and keys has something to complain about.
func TestGenerated(t *testing.T) {
	p := pass(t, generated(1500))
	found := 0
	p.Report = func(analysis.Diagnostic) { found++ }
	for _, a := range Analyzers() {
		if _, err := a.Run(p); err != nil {
			t.Fatal(err)
		}
	}
	if found != 200 {
		t.Errorf("%d findings, want 200: 100 routes and 100 keys", found)
	}
}
