package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// decisionHead is how a decision begins: its number and what was decided, and below it
// the status and the date.
var decisionHead = regexp.MustCompile(
	`^# (\d{4}) ([^\n]+)\n\nStatus: (proposed|accepted|replaced by \[\d{4}\]\([^)]+\)) · (\d{4}-\d\d-\d\d)\n`)

// TestDecisions: every decision has a title, a status and a date, its parts, and the same
// row in the index; numbers have no gaps.
func TestDecisions(t *testing.T) {
	index, err := os.ReadFile("decisions/README.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("decisions/[0-9]*.md")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d decisions, %v", len(files), err)
	}
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m := decisionHead.FindStringSubmatch(string(text))
		if m == nil {
			t.Errorf("%s does not begin with number, title, status and date", file)
			continue
		}
		name := filepath.Base(file)
		if number := fmt.Sprintf("%04d", i+1); m[1] != number || !strings.HasPrefix(name, number+"-") {
			t.Errorf("%s has the number %s: want %s", file, m[1], number)
		}
		if row := fmt.Sprintf("| [%s](%s) | %s | %s | %s |", m[1], name, m[2], m[3], m[4]); !strings.Contains(
			string(index), row) {
			t.Errorf("the index of the decisions has no row\n%s", row)
		}
		for _, part := range []string{"\n**Question.**", "\n**Choice.**"} {
			if !strings.Contains(string(text), part) {
				t.Errorf("%s has no part %q", file, strings.TrimSpace(part))
			}
		}
	}
}
