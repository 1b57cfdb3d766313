package sandbox

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func routesOf(t *testing.T, keys ...string) []route {
	t.Helper()
	var out []route
	for _, key := range keys {
		if key == "$default" {
			out = append(out, route{catchAll: true, key: key})
			continue
		}
		var rt route
		method, path := splitKey(key)
		if err := rt.parse(method, &node{text: path}); err != nil {
			t.Fatal(err)
		}
		out = append(out, rt)
	}
	return out
}

func splitKey(key string) (method, path string) {
	for i := range key {
		if key[i] == ' ' {
			return key[:i], key[i+1:]
		}
	}
	return key, ""
}

func TestFindRoute(t *testing.T) {
	all := routesOf(t, "$default", "ANY /pets/{proxy+}", "GET /pets/{id}", "GET /pets/dog", "ANY /pets/{id}", "POST /pets", "GET /a/{x}/c/{y}")
	for name, tt := range map[string]struct {
		method, path, key string
		params            map[string]string
	}{
		"literal before variable": {"GET", "/pets/dog", "GET /pets/dog", nil},
		"variable before greedy":  {"GET", "/pets/cat", "GET /pets/{id}", map[string]string{"id": "cat"}},
		"own method before ANY":   {"PUT", "/pets/cat", "ANY /pets/{id}", map[string]string{"id": "cat"}},
		"greedy":                  {"GET", "/pets/cat/1/2", "ANY /pets/{proxy+}", map[string]string{"proxy": "cat/1/2"}},
		"several variables":       {"GET", "/a/1/c/2", "GET /a/{x}/c/{y}", map[string]string{"x": "1", "y": "2"}},
		"decoded":                 {"GET", "/pets/a%2Fb%20c", "GET /pets/{id}", map[string]string{"id": "a/b c"}},
		"exact":                   {"POST", "/pets", "POST /pets", nil},
		"other method":            {"DELETE", "/pets", "$default", nil},
		"empty variable":          {"GET", "/pets/", "$default", nil},
		"root":                    {"GET", "/", "$default", nil},
	} {
		t.Run(name, func(t *testing.T) {
			m, ok := findRoute(all, tt.method, tt.path)
			if !ok || m.route.key != tt.key {
				t.Fatalf("found %v, want %s", m.route, tt.key)
			}
			if diff := cmp.Diff(tt.params, m.params); diff != "" {
				t.Error(diff)
			}
		})
	}
	if m, ok := findRoute(routesOf(t, "POST /pets"), "POST", "/pets/"); ok {
		t.Errorf("/pets/ found %s", m.route.key)
	}
	if m, ok := findRoute(routesOf(t, "GET /pets/{id}/tags"), "GET", "/pets/1"); ok {
		t.Errorf("a shorter path found %s", m.route.key)
	}
}
