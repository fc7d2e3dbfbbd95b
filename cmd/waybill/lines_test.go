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
	if err != nil || cmd.Flags().Lookup("jsonl") == nil || slices.Contains(args, "--run") || slices.Contains(args, "--start") ||
		cmd.Name() == "work" {
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

// check compares the lines of --jsonl with a document of --json: the same bytes for each item and nothing else. It
// returns the number of items.
func (c listCall) check(t *testing.T, doc []byte, env []string) int {
	t.Helper()
	items, rest, err := c.listIn(doc)
	if err != nil {
		t.Fatalf("%v: %v: %s", c.args, err, doc)
	}
	var out, errOut bytes.Buffer
	run(append(slices.Clone(c.args), "--jsonl"), strings.NewReader(""), &out, &errOut, env)
	lines := strings.SplitAfter(out.String(), "\n")
	if lines[len(lines)-1] != "" || len(lines) != len(items)+1 {
		t.Fatalf("%v --jsonl: %d lines for %d items, stderr %q\n%s", c.args, len(lines)-1, len(items), &errOut, &out)
	}
	for i, item := range items {
		if lines[i] != string(item)+"\n" {
			t.Errorf("%v --jsonl: line %d is\n%snot\n%s", c.args, i, lines[i], item)
		}
	}
	if errOut.Len() == 0 {
		return len(items)
	}
	if err := validDocument(errOut.Bytes()); err != nil {
		t.Errorf("%v --jsonl: %v", c.args, err)
	}
	none, beside, err := c.listIn(errOut.Bytes())
	if err != nil || len(none) > 0 || !maps.Equal(beside, rest) {
		t.Errorf("%v --jsonl: %v: stderr has\n%sthe document is\n%s", c.args, err, &errOut, doc)
	}
	return len(items)
}

// checkSeen: each command with --jsonl was called with items in its list.
func checkSeen(t *testing.T, seen map[string]int) {
	t.Helper()
	walk(newRoot(&cli.App{}), func(cmd *cobra.Command) {
		if cmd.Flags().Lookup("jsonl") != nil && cmd.Name() != "work" && seen[cmd.CommandPath()] == 0 {
			t.Errorf("%s --jsonl was not called with an item", cmd.CommandPath())
		}
	})
}

// TestLinesAreItems: stdout has items only; what else the document says is on stderr, where there is something to say:
// the cursor of the next page, and a damaged session. An error is a document on stdout, and a text is escaped as in the
// document.
func TestLinesAreItems(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := []string{"HOME=" + dir, "WAYBILL_HOME=" + filepath.Join(dir, "home")}
	call := func(args ...string) (lines []string, beside string, status int) {
		var out, errOut bytes.Buffer
		status = run(args, strings.NewReader(""), &out, &errOut, env)
		if text := strings.TrimSuffix(out.String(), "\n"); text != "" {
			lines = strings.Split(text, "\n")
		}
		return lines, errOut.String(), status
	}
	if lines, beside, status := call("runs", "list", "--jsonl"); len(lines) != 0 || beside != "" || status != 0 {
		t.Errorf("an empty list: %q, %q, %d", lines, beside, status)
	}
	for range 3 {
		call("start", "wr.demo", "--title", "A \u202e\x1b[31mtitle\u2028", "--json")
	}
	var items []string
	for args := []string{"runs", "list", "--jsonl", "--limit", "2"}; args != nil; {
		lines, beside, status := call(args...)
		var rest struct{ Data struct{ NextCursor string } }
		if err := json.Unmarshal([]byte(beside), &rest); beside != "" && (err != nil || validDocument([]byte(beside)) != nil) || status != 0 {
			t.Fatalf("%q: exit status %d, %q, %q", args, status, beside, lines)
		}
		items = append(items, lines...)
		args = nil
		if rest.Data.NextCursor != "" {
			args = []string{"runs", "list", "--jsonl", "--limit", "2", "--cursor", rest.Data.NextCursor}
		}
	}
	if len(items) != 3 || !strings.Contains(items[0], `A \u202e\u001b[31mtitle\u2028`) {
		t.Errorf("two pages have %q", items)
	}
	for want, args := range map[string][]string{
		`"code":"RUN_NOT_FOUND"`: {"runs", "events", "none", "--jsonl"},
		`"code":"USAGE_ERROR"`:   {"runs", "list", "--jsonl", "--limit", "-1"},
		`cannot be combined`:     {"runs", "list", "--jsonl", "--json"},
		`has no flag --jsonl`:    {"verify", "--jsonl"},
	} {
		lines, beside, status := call(args...)
		if len(lines) != 1 || !strings.Contains(lines[0], want) || !strings.Contains(lines[0], `"kind":"error"`) || beside != "" || status == 0 {
			t.Errorf("%q: exit status %d, %q, %q", args, status, lines, beside)
		}
	}
	manifests, err := filepath.Glob(filepath.Join(dir, "home/local/sessions/*/manifest.jsonl"))
	if err != nil || len(manifests) != 3 {
		t.Fatalf("%q, %v", manifests, err)
	}
	if err := os.WriteFile(manifests[0], []byte("{\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	lines, beside, status := call("runs", "list", "--jsonl")
	session := filepath.Base(filepath.Dir(manifests[0]))
	if status != 0 || len(lines) != 2 || !strings.Contains(beside, session) || validDocument([]byte(beside)) != nil {
		t.Errorf("a damaged session: exit status %d, %q, %q", status, lines, beside)
	}
}
