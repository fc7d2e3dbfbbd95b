package catalog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/workflow/source"
)

// TestMayBeWorkflow: a beginning with keys is that of a workflow if one of them is, in each form in which a workflow can
// be written; what cannot be judged may be one.
func TestMayBeWorkflow(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"id": "a", "ste`:                               true,
		`{"x": {"id": 1}, "y": [{"steps": []}]`:          false,
		`{"x": "\"id\": 1", "y": "` + `{\"steps\":[`:     false,
		"\ufeff{\"openapi\": 1, \"name\": 2":             true,
		`{"openapi": "3.1.0", "paths": {"/": {"get": {`:  false,
		`[{"id": "a"}, `:                                 false,
		`{"\u0069d": 1`:                                  true,
		`{`:                                              true,
		`{"a long string that ends behind the beginning`: true,
		"id: a\nname":                                    true,
		"# a comment\n---\nversion: 1\n":                 true,
		"openapi: 3.1.0\npaths:\n  id: x\n":              false,
		"'openapi': 3\n\"name\": x\n":                    true,
		"- id: a\n  steps: []\n":                         false,
		"x:\n- id: a\n":                                  false,
		"x: |\n  id: a\ny: 1\n":                          false,
		"? id\n: a\n":                                    true,
		"&anchor id: a\n":                                true,
		"{x: 1,\n id: a}\n":                              true,
		"# only a comment\n":                             true,
		"plain text\n":                                   true,
		"x: 1\r\nid: a\r\n":                              true,
		"":                                               true,
	} {
		name := "f.yaml"
		if s := strings.TrimPrefix(text, "\ufeff"); s != "" && strings.ContainsAny(s[:1], "{[") && !strings.HasPrefix(s, "{x") {
			name = "f.json"
		}
		if got := MayBeWorkflow(name, []byte(text)); got != want {
			t.Errorf("%s %q: %v", name, text, got)
		}
	}
}

// TestEveryWorkflowMayBeOne: of all workflow files of the project, in both languages.
func TestEveryWorkflowMayBeOne(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, pattern := range []string{"../../../testdata/workflows/*", "../../../infra/discovery/bundled/*", "../source/testdata/*.json", "../source/testdata/*.yaml"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			data, err := os.ReadFile(file)
			if _, problems := source.Parse(file, source.SourceProject, data); err != nil || source.HasErrors(problems) {
				continue
			}
			for _, n := range []int{len(data), len(data) * 3 / 4} {
				if seen++; !MayBeWorkflow(file, data[:n]) {
					t.Errorf("%s, %d of %d bytes", file, n, len(data))
				}
			}
		}
	}
	if seen < 10 {
		t.Errorf("only %d files", seen)
	}
}
