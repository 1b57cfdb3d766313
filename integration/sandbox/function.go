package sandbox

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// function is one AWS::Serverless::Function.
type function struct {
	id          string // logical id, and the function's name on this machine
	codeDir     string
	handler     string
	memoryMB    int
	concurrency int // how many processes it may have at once
	timeout     time.Duration
	jsonLogs    bool
	env         map[string]string
}

func functionARN(region, name string) string {
	return fmt.Sprintf("arn:aws:lambda:%s:%s:function:%s", region, localAccount, name)
}

func (t *template) readFunction(r *resolver, api *apiSpec, id string, res *node) error {
	p := res.get("Properties")
	if err := checkFunction(id, res, p); err != nil {
		return err
	}
	f := function{id: id, jsonLogs: textIs(p.get("LoggingConfig").get("LogFormat"), "JSON")}
	dir, err := r.textOr(p.get("CodeUri"), ".")
	if err != nil {
		return err
	}
	f.codeDir = filepath.Join(t.dir, dir)
	if f.handler, err = r.textOr(p.get("Handler"), "bootstrap"); err != nil {
		return err
	}
	if f.env, err = readEnv(r, id, p.get("Environment")); err != nil {
		return err
	}
	if err := f.readLimits(r, p); err != nil {
		return err
	}
	t.functions = append(t.functions, f)
	return t.readEvents(r, api, id, p.get("Events"))
}

// readLimits reads the function's numbers; the defaults are Lambda's.
func (f *function) readLimits(r *resolver, p *node) (err error) {
	if f.memoryMB, err = r.number(p.get("MemorySize"), 128); err != nil {
		return err
	}
	seconds, err := r.number(p.get("Timeout"), 3)
	if err != nil {
		return err
	}
	if seconds < 1 || seconds > 900 {
		return p.get("Timeout").errorf("function %s: Timeout %d is not between 1 and 900 s", f.id, seconds)
	}
	f.timeout = time.Duration(seconds) * time.Second
	reserved, err := r.number(p.get("ReservedConcurrentExecutions"), maxProcesses)
	f.concurrency = min(reserved, maxProcesses)
	return err
}

// textIs reports whether n is the plain text want.
func textIs(n *node, want string) bool {
	return n != nil && n.kind == scalarNode && n.text == want
}

// checkFunction refuses what would run differently here than on Lambda. Policies, tags, tracing, log groups and the
// like are left out on purpose: they change nothing that a caller of the function sees.
func checkFunction(id string, res, p *node) error {
	if err := p.only("function "+id, "Architectures", "CodeUri", "Description", "Environment", "Events", "Handler",
		"LoggingConfig", "MemorySize", "Policies", "ReservedConcurrentExecutions", "Role", "Runtime", "Tags",
		"Timeout", "Tracing"); err != nil {
		return err
	}
	if rt := p.get("Runtime"); rt == nil || rt.kind != scalarNode || !strings.HasPrefix(rt.text, "provided.") {
		return res.errorf("function %s: the sandbox runs the runtimes provided.al2023 and provided.al2 alone", id)
	}
	if !textIs(res.get("Metadata").get("BuildMethod"), "makefile") {
		return res.errorf("function %s: the sandbox builds by make alone: set Metadata: BuildMethod: makefile", id)
	}
	return nil
}

func readEnv(r *resolver, id string, environment *node) (map[string]string, error) {
	if err := environment.only("function "+id+": Environment", "Variables"); err != nil {
		return nil, err
	}
	env := map[string]string{}
	vars := environment.get("Variables")
	if vars == nil {
		return env, nil
	}
	for _, name := range vars.keys {
		v, err := r.text(vars.fields[name])
		if err != nil {
			return nil, err
		}
		env[name] = v
	}
	return env, nil
}
