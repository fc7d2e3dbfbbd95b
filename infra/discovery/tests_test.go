package discovery_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/infra/discovery"
)

// TestFilesOfTests: they are found beside a workflow, wherever that was found, and are no workflows.
func TestFilesOfTests(t *testing.T) {
	root, attached, outside := t.TempDir(), t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		root + "/.waybill/workflows/deep/a.yaml": "id: team.a", root + "/.waybill/workflows/deep/a.test.yaml": "one",
		root + "/.waybill/workflows/deep/a.test.json":     "two",
		root + "/.waybill/workflows/deep/a.yaml.test.yml": "three", root + "/.waybill/workflows/b.json": "{}",
		attached + "/c.yml": "id: team.c", attached + "/c.test.yml": "four", outside + "/secret": "secret",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside+"/secret", attached+"/c.test.json"); err != nil {
		t.Skip(err)
	}
	finder := discovery.New(discovery.Places{From: root, Attached: []discovery.Attached{{Name: "flows", Dir: attached}}})
	files, err := finder.Workflows(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]catalog.File{}
	for _, f := range files {
		if strings.Contains(f.Ref, "test") {
			t.Errorf("%s is listed as a workflow", f.Ref)
		}
		found[filepath.Base(f.Ref)] = f
	}
	for name, want := range map[string]string{"a.yaml": "one two three", "b.json": "", "c.yml": "four unreadable"} {
		tests, err := finder.TestFiles(found[name], "")
		var got []string
		for _, f := range tests {
			text := string(f.Data)
			if f.Err != nil {
				text = "unreadable"
			}
			got = append(got, text)
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	named := filepath.Join(root, ".waybill", "workflows", "deep", "a.yaml")
	file, err := finder.WorkflowFile(t.Context(), named)
	if err != nil {
		t.Fatal(err)
	}
	if tests, err := finder.TestFiles(file, named); err != nil || len(tests) != 3 {
		t.Error(tests, err)
	}
	if got := finder.TestPath(found["a.yaml"], ""); got != filepath.Join(root, ".waybill", "workflows", "deep", "a.test.yaml") {
		t.Error(got)
	}
	if !slices.Equal([]bool{discovery.IsTests("a.test.yaml"), discovery.IsTests("x/A.TEST.YML"), discovery.IsTests(".test.yaml"),
		discovery.IsTests("a.yaml"), discovery.IsTests("test.yaml")}, []bool{true, true, false, false, false}) {
		t.Error("IsTests")
	}
}
