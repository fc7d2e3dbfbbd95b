package compile

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/workflow/source"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const examples = "../../../testdata/workflows"

// golden compares text with a golden file, or writes the file with -update.
func golden(t *testing.T, name, text string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("%s differs; got:\n%s", name, text)
	}
}

func sources(t testing.TB, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.*"))
	names = slices.DeleteFunc(names, func(name string) bool { return filepath.Ext(name) == ".want" })
	if err != nil || len(names) == 0 {
		t.Fatalf("no examples in %s: %v", dir, err)
	}
	return names
}

func compileFile(t *testing.T, name string) (Compiled, []source.Problem) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	_, c, found := File(filepath.Base(name), source.SourceProject, data)
	return c, found
}

// TestGoldenHashes checks the hashes of the compiled examples. A change here is a change of
// the format: runs that are pinned to the old bytes continue, new ones get another hash.
func TestGoldenHashes(t *testing.T) {
	var hashes strings.Builder
	for _, name := range sources(t, examples) {
		c, found := compileFile(t, name)
		if source.HasErrors(found) {
			t.Errorf("%s: %v", name, found)
			continue
		}
		fmt.Fprintf(&hashes, "%s %s\n", c.Hash(), filepath.Base(name))
	}
	golden(t, filepath.Join(examples, "hashes.want"), hashes.String())
}

// TestGoldenDocuments compares whole compiled documents, so that a changed hash can be
// explained.
func TestGoldenDocuments(t *testing.T) {
	for _, name := range []string{"release-checklist.yaml", "bug-triage.json", "access-request.yaml"} {
		c, _ := compileFile(t, filepath.Join(examples, name))
		golden(t, filepath.Join(examples, "compiled", name+".want"), string(c.Bytes()))
	}
}

// TestTwoSpellings: JSON and YAML, in any order of keys, compile to the same document.
func TestTwoSpellings(t *testing.T) {
	a, _ := compileFile(t, filepath.Join(examples, "bug-triage.json"))
	b, _ := compileFile(t, filepath.Join(examples, "bug-triage.yaml"))
	if a.Hash().IsZero() || a.Hash() != b.Hash() {
		t.Errorf("they compile to\n%s\n%s", a.Bytes(), b.Bytes())
	}
}

// TestGoldenProblems checks every problem of the invalid examples: line, pointer, severity,
// message and fix.
func TestGoldenProblems(t *testing.T) {
	for _, name := range sources(t, filepath.Join(examples, "invalid")) {
		c, found := compileFile(t, name)
		if !source.HasErrors(found) || c.Steps != nil {
			t.Errorf("%s compiles", name)
		}
		var text strings.Builder
		for _, p := range found {
			fmt.Fprintf(&text, "%d:%d %s %s: %s | %s\n", p.Line, p.Column, p.Pointer, p.Severity, p.Message, p.Fix)
		}
		golden(t, name+".want", text.String())
	}
}
