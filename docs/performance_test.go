package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	enumerationRow = regexp.MustCompile("(?m)^\\|[^|]*\\| `((?:durable|infra)/[a-z/]+)`((?: `[A-Za-z]+`[^|`]*)+)\\|")
	quotedName     = regexp.MustCompile("`([A-Za-z]+)`")
	testFunction   = regexp.MustCompile(`(?m)^func Test(\w+)\(`)
)

// TestPerformanceNamesTests checks that every enumeration in docs/performance.md names a
// part of the name of a test that exists in the package.
func TestPerformanceNamesTests(t *testing.T) {
	page, err := os.ReadFile("performance.md")
	if err != nil {
		t.Fatal(err)
	}
	names := 0
	for _, row := range enumerationRow.FindAllStringSubmatch(string(page), -1) {
		files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(row[1]), "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		var tests []string
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range testFunction.FindAllStringSubmatch(string(src), -1) {
				tests = append(tests, f[1])
			}
		}
		for _, name := range quotedName.FindAllStringSubmatch(row[2], -1) {
			names++
			if !strings.Contains(strings.Join(tests, " "), name[1]) {
				t.Errorf("docs/performance.md names %s, but no test of %s has it in its name", name[1], row[1])
			}
		}
	}
	if names < 15 {
		t.Errorf("%d names of tests were found in docs/performance.md, expected at least 15", names)
	}
}
