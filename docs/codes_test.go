package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/reason"
)

// unmade lists codes that nothing makes. A code stays here only until it is made or
// taken out of the table.
var unmade = map[fault.Code]bool{}

// texts are the files of the tree that a test may be written in, and those of the
// program; the table itself and its own tests are neither.
func texts(t *testing.T) (tests, code []string) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(path)
		if d.IsDir() && (d.Name() == ".git" || strings.HasPrefix(d.Name(), "bin") ||
			strings.HasPrefix(d.Name(), "dist") || d.Name() == "node_modules" || strings.HasSuffix(dir, "durable/fault") ||
			strings.HasSuffix(dir, "/docs")) {
			return filepath.SkipDir
		}
		isTest := strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".txtar") ||
			strings.Contains(dir, "testdata/scenarios/")
		isCode := !isTest && filepath.Ext(path) == ".go"
		if d.IsDir() || !isTest && !isCode {
			return nil
		}
		data, err := os.ReadFile(path)
		if isTest {
			tests = append(tests, string(data))
		} else {
			code = append(code, string(data))
		}
		return err
	})
	if err != nil || len(tests) < 50 || len(code) < 100 {
		t.Fatalf("%d tests and %d files of code: %v", len(tests), len(code), err)
	}
	return tests, code
}

// TestEveryCodeIsMadeAndTried: a code of the table that nothing makes cannot
// occur, and one that no test names may be returned for the wrong error.
func TestEveryCodeIsMadeAndTried(t *testing.T) {
	tests, code := texts(t)
	names := constants(t)
	for _, row := range fault.Table {
		word := regexp.MustCompile(`\bfault\.` + names[row.Code] + `\b|\b` + string(row.Code) + `\b`)
		made := strings.Contains(strings.Join(code, "\n"), "fault."+names[row.Code])
		if made == unmade[row.Code] {
			t.Errorf("%s: made by the program: %v, listed as made by nothing: %v", row.Code, made, unmade[row.Code])
		}
		if !unmade[row.Code] && !mentions(tests, word) {
			t.Errorf("%s: no test names it", row.Code)
		}
	}
}

// TestEveryReasonIsInAScenario: each blocker code and each reason occurs in a scenario, but
// for the one that is never stored (docs/design.md#blocked-attempts).
func TestEveryReasonIsInAScenario(t *testing.T) {
	var scenarios []string
	files, err := filepath.Glob("../testdata/scenarios/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		scenarios = append(scenarios, string(data))
	}
	for _, row := range reason.Table {
		if row.Code == reason.StorageCorrupt {
			continue
		}
		if !mentions(scenarios, regexp.MustCompile(`(?m)^  critical `+row.Code.String()+` `)) {
			t.Errorf("no scenario has a gap for %s", row.Code)
		}
		if !mentions(scenarios, regexp.MustCompile(`(?m)^  `+string(row.Blocker)+` `)) {
			t.Errorf("no scenario is blocked by %s", row.Blocker)
		}
	}
}

func mentions(texts []string, word *regexp.Regexp) bool {
	for _, text := range texts {
		if word.MatchString(text) {
			return true
		}
	}
	return false
}

// constants reads from the source what each code is called there.
func constants(t *testing.T) map[fault.Code]string {
	t.Helper()
	data, err := os.ReadFile("../durable/fault/codes.go")
	if err != nil {
		t.Fatal(err)
	}
	out := map[fault.Code]string{}
	for _, m := range regexp.MustCompile(`(?m)^\t(\w+)\s+Code = "([A-Z_]+)"`).FindAllStringSubmatch(string(data), -1) {
		out[fault.Code(m[2])] = m[1]
	}
	if len(out) != len(fault.Table) {
		t.Fatalf("%d constants for %d rows", len(out), len(fault.Table))
	}
	return out
}
