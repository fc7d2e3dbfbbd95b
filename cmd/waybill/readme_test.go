package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeCommands types the commands of the README's table in order, without a
// terminal, in a directory with the workflow that the README shows.
func TestReadmeCommands(t *testing.T) {
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	file := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(page)
	commands := regexp.MustCompile("(?m)^\\| `waybill ([^`]+)` \\|").FindAllSubmatch(page, -1)
	if file == nil || len(commands) != 9 {
		t.Fatalf("the README shows %d commands", len(commands))
	}
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("release.yaml", file[1], 0o600); err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile(`"[^"]*"|\S+`)
	for _, c := range commands {
		var args []string
		for _, word := range quoted.FindAllString(string(c[1]), -1) {
			args = append(args, strings.Trim(word, `"`))
		}
		want := 0
		if args[0] == "run" {
			want = 3 // the second step is a person's, and there is no terminal
		}
		var out, errOut bytes.Buffer
		env := append(os.Environ(), "HOME="+dir, "WAYBILL_HOME="+filepath.Join(dir, "home"))
		if status := run(args, strings.NewReader(""), &out, &errOut, env); status != want || out.Len() == 0 {
			t.Errorf("waybill %s: exit status %d: want %d\n%s%s", c[1], status, want, &out, &errOut)
		}
	}
}

// TestReadmeFailures: each row of the README's table of failures names a command that its section of the guide types, and
// the table has every section.
func TestReadmeFailures(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	guide, err := os.ReadFile("../../docs/guide/failures.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	for _, part := range strings.Split(string(guide), "\n## ")[1:] {
		title, text, _ := strings.Cut(part, "\n")
		sections[strings.ReplaceAll(strings.ToLower(title), " ", "-")] = text
	}
	rows := regexp.MustCompile("(?m)^\\| \\[[^]]+\\]\\(docs/guide/failures\\.md#([^)]+)\\) \\|[^|]+\\| `([^`]+)` \\|[^|]+\\|$").
		FindAllSubmatch(page, -1)
	for _, row := range rows {
		anchor := string(row[1])
		if !strings.Contains(sections[anchor], "\n$ "+string(row[2])+"\n") {
			t.Errorf("docs/guide/failures.md#%s does not type %q", anchor, row[2])
		}
		delete(sections, anchor)
	}
	if len(rows) != 7 || len(sections) != 0 {
		t.Errorf("the README has %d rows, and not the sections %q", len(rows), sections)
	}
}
