package lint

import (
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
)

// TestFixtures runs all rules over all packages in testdata at once, since most of the time goes into loading net/http.
func TestFixtures(t *testing.T) {
	every := &analysis.Analyzer{Name: "every", Doc: "all rules", RunDespiteErrors: true, Run: func(pass *analysis.Pass) (any, error) {
		for _, a := range Analyzers() {
			if _, err := a.Run(pass); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}}
	analysistest.Run(t, analysistest.TestData(), every, "unguarded/...", "freshkey/...", "ignore/...")
}

func TestParseIgnore(t *testing.T) {
	for text, want := range map[string]string{
		"idemlint:ignore unguarded -- reads only":     "unguarded",
		"idemlint:ignore  freshkey  --  by the month": "freshkey",
		"idemlint:ignore unguarded -- a -- b":         "unguarded",
		"idemlint:ignore unguarded --":                "!",
		"idemlint:ignore unguarded":                   "!",
		"idemlint:ignore unguarded reads only":        "!",
		"idemlint:ignore unguarded,freshkey -- both":  "!",
		"idemlint:ignore -- why":                      "!",
		"idemlint:ignore":                             "!",
		"idemlint:ignores unguarded -- why":           "!",
		"idemlint:":                                   "!",
		" idemlint:ignore unguarded":                  "",
		"nolint:unguarded":                            "",
		"":                                            "",
	} {
		rule, problem := parseIgnore(text)
		if problem != "" {
			rule = "!"
		}
		if rule != want {
			t.Errorf("%q: %q %q, want %q", text, rule, problem, want)
		}
	}
}
