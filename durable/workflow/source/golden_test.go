package source

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the .want files")

// TestProblemFiles checks every problem of the files in testdata/problems: line, place,
// severity, message and fix.
func TestProblemFiles(t *testing.T) {
	names, _ := filepath.Glob("testdata/problems/*.yaml")
	if len(names) < 3 {
		t.Fatalf("only %d files", len(names))
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		src, found := Parse(name, SourceProject, data)
		var out strings.Builder
		for _, p := range found {
			fmt.Fprintf(&out, "%d %s %s: %s | %s\n", p.Line, p.Pointer, p.Severity, p.Message, p.Fix)
		}
		if src.Valid != (filepath.Base(name) == "warnings.yaml") {
			t.Errorf("%s: valid is %v", name, src.Valid)
		}
		if *update {
			if err := os.WriteFile(name+".want", []byte(out.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, _ := os.ReadFile(name + ".want")
		if out.String() != string(want) {
			t.Errorf("%s.want differs; got:\n%s", name, out.String())
		}
	}
}

// TestValidFiles: valid files have no problems.
func TestValidFiles(t *testing.T) {
	names, _ := filepath.Glob("testdata/valid/*")
	if len(names) == 0 {
		t.Fatal("no files")
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if src, found := Parse(name, SourceProject, data); !src.Valid || len(found) > 0 {
			t.Errorf("%s: %+v", name, found)
		}
	}
}
