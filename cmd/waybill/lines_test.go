package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
)

// listCall is a call of a command with --jsonl: its arguments without flags for the form of the answer, and the member
// that has the list.
type listCall struct {
	path, member string
	args         []string
}

// listOf returns the call of a list, ok is false for one without --jsonl and one that changes something.
func listOf(args []string) (c listCall, ok bool) {
	cmd, _, err := newRoot(&cli.App{}).Find(args)
	if err != nil || cmd.Flags().Lookup("jsonl") == nil || slices.Contains(args, "--run") || slices.Contains(args, "--start") {
		return c, false
	}
	c = listCall{cmd.CommandPath(), cmd.Annotations[cli.ListMember], args}
	if slices.Contains(args, "--trash") {
		c.member = "trash"
	}
	return c, true
}

// listIn returns the items of a document, and its other members.
func (c listCall) listIn(doc []byte) (items []json.RawMessage, rest map[string]string, err error) {
	var top struct{ Data map[string]json.RawMessage }
	if err = json.Unmarshal(doc, &top); err != nil {
		return nil, nil, err
	}
	if err = json.Unmarshal(top.Data[c.member], &items); err != nil || items == nil {
		return nil, nil, errors.Join(err, errors.New("no list "+c.member))
	}
	rest = map[string]string{}
	for name, value := range top.Data {
		if name != c.member && name != "atMs" { // the time of the call
			rest[name] = string(value)
		}
	}
	return items, rest, nil
}

// check compares the lines of --jsonl with a document of --json: the same bytes for each item, and a last line that is
// the document with an empty list. It returns the number of items.
func (c listCall) check(t *testing.T, doc []byte, env []string) int {
	t.Helper()
	items, rest, err := c.listIn(doc)
	if err != nil {
		t.Fatalf("%v: %v: %s", c.args, err, doc)
	}
	var out, errOut bytes.Buffer
	run(append(slices.Clone(c.args), "--jsonl"), strings.NewReader(""), &out, &errOut, env)
	lines := strings.SplitAfter(out.String(), "\n")
	if errOut.Len() > 0 || lines[len(lines)-1] != "" || len(lines) != len(items)+2 {
		t.Fatalf("%v --jsonl: %d lines for %d items, stderr %q\n%s", c.args, len(lines)-1, len(items), &errOut, &out)
	}
	for i, item := range items {
		if lines[i] != string(item)+"\n" {
			t.Errorf("%v --jsonl: line %d is\n%snot\n%s", c.args, i, lines[i], item)
		}
	}
	last := []byte(lines[len(items)])
	if err := validDocument(last); err != nil {
		t.Errorf("%v --jsonl: %v", c.args, err)
	}
	none, end, err := c.listIn(last)
	if err != nil || len(none) > 0 || !maps.Equal(end, rest) {
		t.Errorf("%v --jsonl: %v: the last line is\n%sthe document is\n%s", c.args, err, last, doc)
	}
	return len(items)
}

// checkSeen: each command with --jsonl was called with items in its list.
func checkSeen(t *testing.T, seen map[string]int) {
	t.Helper()
	walk(newRoot(&cli.App{}), func(cmd *cobra.Command) {
		if cmd.Flags().Lookup("jsonl") != nil && seen[cmd.CommandPath()] == 0 {
			t.Errorf("%s --jsonl was not called with an item", cmd.CommandPath())
		}
	})
}

// TestLinesEndWithWhatAProgramNeeds: pages are read to their end by the cursor of the last line, a damaged session is
// in it, errors are a document, and a text is escaped as in the document.
func TestLinesEndWithWhatAProgramNeeds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := []string{"HOME=" + dir, "WAYBILL_HOME=" + filepath.Join(dir, "home")}
	call := func(args ...string) ([]string, int) {
		var out, errOut bytes.Buffer
		status := run(args, strings.NewReader(""), &out, &errOut, env)
		if errOut.Len() > 0 {
			t.Errorf("%q: stderr %q", args, &errOut)
		}
		return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n"), status
	}
	for range 3 {
		call("start", "wr.demo", "--title", "A \u202e\x1b[31mtitle\u2028", "--json")
	}
	var titles []string
	for args := []string{"runs", "list", "--jsonl", "--limit", "2"}; args != nil; {
		lines, status := call(args...)
		var end struct {
			Kind string
			Data struct{ NextCursor string }
		}
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &end); err != nil || status != 0 || end.Kind != "runs" {
			t.Fatalf("%q: exit status %d, %v, %q", args, status, err, lines)
		}
		titles = append(titles, lines[:len(lines)-1]...)
		args = nil
		if end.Data.NextCursor != "" {
			args = []string{"runs", "list", "--jsonl", "--limit", "2", "--cursor", end.Data.NextCursor}
		}
	}
	if len(titles) != 3 || !strings.Contains(titles[0], `A \u202e\u001b[31mtitle\u2028`) {
		t.Errorf("three pages have %q", titles)
	}
	for want, args := range map[string][]string{
		`"code":"RUN_NOT_FOUND"`: {"runs", "events", "none", "--jsonl"},
		`"code":"USAGE_ERROR"`:   {"runs", "list", "--jsonl", "--limit", "-1"},
		`cannot be combined`:     {"runs", "list", "--jsonl", "--json"},
		`has no flag --jsonl`:    {"verify", "--jsonl"},
	} {
		lines, status := call(args...)
		if len(lines) != 1 || !strings.Contains(lines[0], want) || !strings.Contains(lines[0], `"kind":"error"`) || status == 0 {
			t.Errorf("%q: exit status %d, %q", args, status, lines)
		}
	}
	manifests, err := filepath.Glob(filepath.Join(dir, "home/local/sessions/*/manifest.jsonl"))
	if err != nil || len(manifests) != 3 {
		t.Fatalf("%q, %v", manifests, err)
	}
	if err := os.WriteFile(manifests[0], []byte("{\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	lines, status := call("runs", "list", "--jsonl")
	session := filepath.Base(filepath.Dir(manifests[0]))
	if last := lines[len(lines)-1]; status != 0 || len(lines) != 3 || !strings.Contains(last, session) ||
		validDocument([]byte(last)) != nil {
		t.Errorf("a damaged session: exit status %d, %q", status, lines)
	}
}
