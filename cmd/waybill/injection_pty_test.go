//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/creack/pty"
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// injections are what text can do to a terminal or to its reader: escape and control sequences in
// both forms, a title sequence, bidirectional controls, line breaks of all systems, invisible letters,
// marks and tags, and letters that look like others.
var injections = []string{"\x1b[31m\x1b[8m", "\x1b[2J", "\u009b2J", "\u009d0;t\u009c", "\x1b]0;t\a", "\u202e", "\u2066\u2069",
	"\u061c", "\u2060", "\ufeff", "\u200b\u200d", "\u2028", "\u2029", "\u0085", "\r", "\r\n", "\n\n", "\t", "\b\x7f", "\v\f",
	"\U000E0041", "\ufe0f", "\U000E0100", "\u3164\u115f", "\u034f", "\u00ad", "раypal", "ｆull․⁄"}

// isRaw reports a character that no text view may write.
func isRaw(r rune) bool {
	return r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// isLeftOut reports a character that text views leave out, but for those before a consent.
func isLeftOut(r rune) bool {
	return strings.ContainsRune("\u00ad\u034f\u061c\u200b\u200d\u2060\ufe0f\ufeff\U000E0100", r)
}

// harmless returns a text of the same width: with letters for the characters that are not printed. In
// a line of its own, line breaks are spaces.
func harmless(text string, oneLine bool) string {
	if oneLine {
		text = strings.Join(strings.Fields(text), " ")
	}
	text = strings.NewReplacer("\r\n", "\n", "\t", "    ").Replace(text)
	return strings.Map(func(r rune) rune {
		switch {
		case isLeftOut(r):
			return -1
		case isRaw(r):
			return 'x'
		case unicode.Is(unicode.Cyrillic, r):
			return 'a'
		}
		return r
	}, text)
}

// injected is a store with a text in every place that takes one.
type injected struct {
	*testing.T
	dir     string
	env     []string
	columns uint16
	line    func(string) string // a text for a place of one line
	text    func(string) string // a text for a place of several lines
}

// call runs the program in this process, in a pipe. Places that refuse a text answer with an error.
func (s *injected) call(args ...string) (string, int) {
	var out, errOut bytes.Buffer
	status := run(args, strings.NewReader(""), &out, &errOut, s.env)
	return out.String() + errOut.String(), status
}

// atTerminal runs the program in this process at a terminal of s.columns, answering no question.
func (s *injected) atTerminal(args ...string) string {
	s.Helper()
	user, tty, err := pty.Open()
	if err != nil {
		s.Fatal(err)
	}
	_ = pty.Setsize(tty, &pty.Winsize{Rows: 200, Cols: s.columns})
	done := make(chan string)
	go func() {
		var screen []byte
		buf := make([]byte, 4096)
		for {
			n, err := user.Read(buf)
			screen = append(screen, buf[:n]...)
			if err != nil {
				done <- strings.ReplaceAll(string(screen), "\r\n", "\n")
				return
			}
			switch plain := escapes().ReplaceAll(screen, nil); {
			case bytes.HasSuffix(plain, []byte("/N] ")):
				_, _ = user.WriteString("n\n")
			case bytes.HasSuffix(plain, []byte("› ")):
				_, _ = user.WriteString("\x04")
			}
		}
	}()
	run(args, tty, tty, tty, s.env)
	_ = tty.Close()
	screen := <-done
	_ = user.Close()
	return screen
}

func (s *injected) write(name string, content any) {
	s.Helper()
	data, err := json.Marshal(content)
	if text, ok := content.(string); ok {
		data = []byte(text)
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(filepath.Join(s.dir, name)), 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(s.dir, name), data, 0o600)
	}
	if err != nil {
		s.Fatal(err)
	}
}

type object = map[string]any

// fill puts the text into every place of a store.
func (s *injected) fill(inject string) {
	line, text := s.line(inject), s.text(inject)
	workflow := func(id string, steps ...object) object {
		return object{"id": id, "name": "N" + line, "description": "D" + text, "version": "1.0.0", "steps": steps}
	}
	action := object{"kind": "command", "argv": []string{"sh", "-c", `printf '%s\n' "$V"; exit 0`, line}, "cwd": ".",
		"env": object{"V": text}}
	s.write(".waybill/workflows/cmd.json", workflow("test.cmd", object{"id": "a", "title": "T" + line, "action": action}))
	s.write(".waybill/workflows/ship.json", workflow("test.ship", object{"id": "a", "title": "T" + line, "prompt": "P" + text,
		"requireConfirmation": object{"kind": "human_approval"}}))
	s.write(".waybill/workflows/ask.json", workflow("test.ask", object{"id": "a", "title": "T" + line, "prompt": "P" + text,
		"inputs": []object{{"contextKey": "k", "reason": "needs_user_choice", "choiceKind": "scope_boundary",
			"choices": []string{"c" + line, "d"}, "description": "I" + line}}}, object{"id": "b", "title": "U" + line, "prompt": "p"}))
	s.write(".waybill/workflows/ask.test.json", object{"cases": []object{{"name": "C" + line, "context": object{"other": text},
		"answers": object{"a": []object{{"notes": "N" + text}}}, "expect": object{"path": []string{"b"}, "blockers": []string{"B" + line},
			"prompts": object{"a": "Q" + text}, "context": object{"k": line, "other": "no"}, "warnings": []string{line}}}}})
	s.write(".waybill/workflows/cmd.test.json", object{"cases": []object{{"name": line, "answers": object{line: []object{}},
		"expect": object{"path": []string{line}, "status": line, line: line}}}})
	s.write(".waybill/workflows/b"+strings.ReplaceAll(line, "/", "")+".json", `{"id": 1}`)
	s.write("attached/a"+strings.ReplaceAll(line, "/", "")+".json",
		workflow("team.attached", object{"id": "a", "title": "T" + line, "action": action}))
	s.write("result.json", object{"kind": "k" + line, "v": text})
	s.write("plain.txt", text)
	s.write("proposal.json", object{"kind": "workflow-chain-pack", "title": "T" + line, "rationale": "R" + text,
		"artifact": workflow("team.check", object{"id": "a", "title": "T" + line, "prompt": "P" + text})})
	for _, args := range [][]string{
		{"run", "test.cmd", "--trust", "--title", "R" + line, "--as", "w" + line},
		{"start", "test.ship", "--title", "R" + line},
		{"continue", "--run", "@last", "--notes", "N" + text, "--artifact", "result.json", "--artifact", "plain.txt"},
		{"start", "test.ask", "--title", "R" + line, "--set", "k=c" + line, "--set", "other=" + text},
		{"continue", "--run", "@last", "--notes", "N" + text, "--artifact", "result.json", "--as", "w" + line},
		{"checkpoint", "--run", "@last", "--notes", "N" + text},
		{"annotate", "@last", "--rating", "2", "--note", "N" + text, "--as", "w" + line},
		{"annotate", "@last", "--correction", "C" + text}, {"annotate", "@last", "--label", "L" + line},
		{"fork", "@last"},
		{"runs", "pause", "@last", "--reason", "W" + line}, {"runs", "resume", "@last"},
		{"runs", "cancel", "@last", "--reason", "W" + line}, {"sessions", "keep", "@last", "--reason", "W" + line},
		{"start", "test.ask", "--title", "D" + line, "--set", "k=c" + line}, {"sessions", "delete", "@last", "--yes", "--reason", "W" + line},
		{"start", "test.ship", "--title", "R" + line}, {"continue", "--run", "@last", "--notes", "N" + text, "--artifact", "plain.txt"},
		{"proposals", "create", "proposal.json", "--as", "w" + line}, {"export", "@last", "-o", "b.json"},
	} {
		if out, status := s.call(args...); status != 0 && status != 3 {
			s.Logf("refused: %.80q: %.200s", args, out)
		}
	}
	s.commit("S" + line + "\n\n" + text)
}

// commit makes a commit with a message, the trailer of the last run and one that is none.
func (s *injected) commit(message string) {
	s.Helper()
	trailer, _ := s.call("trailer", "--run", "@last")
	for _, args := range [][]string{{"init", "-q"}, {"commit", "-q", "--allow-empty", "--cleanup=verbatim", "-F", "-"}} {
		cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...)
		cmd.Dir, cmd.Stdin = s.dir, strings.NewReader(message+"\n"+trailer+"Waybill-Run: "+message)
		if out, err := cmd.CombinedOutput(); err != nil {
			s.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	if out, status := s.call("who", "HEAD"); status != 0 {
		s.Fatalf("the commit names no run: %d\n%s", status, out)
	}
}

// twoRuns are the runs of one workflow.
func (s *injected) twoRuns() []string {
	var list struct {
		Data struct{ Runs []struct{ RunID string } }
	}
	out, _ := s.call("runs", "list", "--workflow", "test.ship", "--json")
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list.Data.Runs) < 2 {
		return []string{"none", "none"} // the texts are refused
	}
	return []string{list.Data.Runs[0].RunID, list.Data.Runs[1].RunID}
}

// views are all commands that print text about a store, and calls that fail with a text in them.
func (s *injected) views(inject string) [][]string {
	line := s.line(inject)
	var list struct {
		Data struct{ Proposals []struct{ ID string } }
	}
	out, _ := s.call("proposals", "list", "--json")
	_ = json.Unmarshal([]byte(out), &list)
	proposal := "none"
	if len(list.Data.Proposals) > 0 {
		proposal = list.Data.Proposals[0].ID
	}
	return append(s.questions(line, proposal), [][]string{{"artifacts", "list"}, {"artifacts", "show", line}, {"artifacts", "get", line}, {"runs", "logs"},
		{"runs", "logs", line}, {"runs", "logs", "--step", line}, {"runs", "show", "--step", "s"}, {"runs", "show", "--step", line},
		{"runs", "list", "--jsonl"}, {"runs", "events", "--jsonl"}, {"inbox", "--jsonl"}, {"annotations", "list", "@last", "--jsonl"},
		{"proposals", "list", "--jsonl"}, {"workflows", "list", "--jsonl"}, {"audit", "list", "--jsonl"}, {"sessions", "list", "--jsonl"},
		{"runs", "list"}, {"runs", "show"}, {"runs", "timeline"}, {"runs", "graph"},
		{"runs", "graph", "--mermaid"}, append([]string{"runs", "diff"}, s.twoRuns()...), {"runs", "diff", "@last", line}, {"resume"}, {"resume", "zz" + line}, {"replay"},
		{"continue", "--run", "@last"}, {"approve"}, {"run", "--run", "@last"},
		{"annotations", "list"}, {"annotations", "list", "--history"}, {"annotations", "summary"},
		{"proposals", "list"}, {"proposals", "get", proposal}, {"proposals", "get", proposal, "--history"},
		{"proposals", "approve", proposal}, {"proposals", "installed"}, {"proposals", "events"},
		{"trust", "test.cmd"}, {"trust", "--list"}, {"run", "test.cmd"}, {"run", "test.ask", "--quiet"},
		{"workflows", "list"}, {"workflows", "inspect", "test.cmd"}, {"workflows", "inspect", "test.ask"},
		{"workflows", "inspect", "test.ask", "--compiled"},
		{"workflows", "inspect", "--pinned", "@last", "--compiled"},
		{"workflows", "sources"}, {"workflows", "attach", line}, {"workflows", "detach", line},
		{"workflows", "validate", ".waybill/workflows/ask.json"}, {"workflows", "test", "test.ask", "--coverage"},
		{"workflows", "test", "test.cmd"}, {"workflows", "test", line}, {"workflows", "test", "--from-run", "@last", "-o", "-"},
		{"audit", "list"}, {"audit", "verify"},
		{"sessions", "list"}, {"sessions", "list", "--trash"}, {"verify"}, {"doctor"}, {"gc"}, {"du"}, {"repair"},
		{"keys", "list"}, {"config", "get"}, {"capabilities"}, {"automations", "due", "--all"}, {"due"}, {"inbox"},
		{"work", "--once"}, {"work", "--once", "--jsonl"}, {"work", "--once", "--tags", line}, {"start", "test.ask", "--tags", line},
		{"guard", "test", "claude"}, {"guard", "install", "claude", "--print"}, {"guard", "uninstall", "claude", "--print"},
		{"guard", "install", line}, {"mcp", "install", "codex", "--print"}, {"mcp", "install", line},
		{"mcp", "uninstall", "codex", "--print"},
		{"who", "HEAD"}, {"who", line}, {"who", "HEAD.." + line}, {"trailer"}, {"trailer", "--run", line}, {"trailer", "--print-hook"},
		{"trailer", "--print-hook", "--store", line},
		{"runs", "show", line}, {"start", line}, {"workflows", "inspect", line}, {"workflows", "validate", line},
		{"config", "get", line}, {"trust", line}, {"verify", line}, {"runs", "list", "--status", line}, {"runs", "list", "--text", line, "--since", line}, {line}, {"runs", line},
		{"run", "test.cmd", "--trust", "--quiet"}, {"run", "test.cmd", "--trust"}, {"start", "test.ask", "--set", line},
		{"import", line}, {"bundle", "show", line}, {"bundle", "verify", line}, {"bundle", "diff", line, line},
		{"bundle", "show", "b.json"}, {"bundle", "verify", "b.json"}, {"import", "b.json"}, {"export", line}, {"push", "@last", "--to", line}, {"push", line, "--to", "pushed"},
		{"pull", "@last", "--from", line}, {"push", "@last", "--to", "pushed"}, {"runs", "events"},
		{"runs", "cancel", line}, {"runs", "pause", line}, {"runs", "resume", line}, {"workflows", "compile", line}, {"workflows", "new", line}, {"annotations", "retract", line},
		{"annotate", line, "--note", "n"}, {"checkpoint", "--run", line}, {"fork", line}, {"sessions", "keep", line},
		{"sessions", "restore", line}, {"proposals", "create", line}, {"proposals", "revise", line, line}, {"proposals", "reject", line},
		{"proposals", "archive", line}, {"proposals", "rollback", line}, {"schema", line}, {"help", line}, {"completion", line}, {"--as", line, "runs", "list"}, {"--store", line, "runs", "list"},
		{"serve", "keys", "list"}, {"serve", "keys", "add", line, "--scope", "runs:read"}, {"serve", "keys", "remove", line},
		{"runs", "list", "--store", line, "--log-level", "debug"}}...)
}

// questions are the calls that ask for a consent, which is not given.
func (s *injected) questions(line, proposal string) [][]string {
	plain, err := os.ReadFile(filepath.Join(s.dir, "plain.txt"))
	if err != nil {
		s.Fatal(err)
	}
	principals, _ := json.Marshal(object{"p": object{"roles": []string{"reviewer"}, "keys": []string{line}}})
	return [][]string{{"artifacts", "erase", canon.Sum(plain).String(), "--reason", line}, {"keys", "rotate"}, {"config", "confirm"},
		{"sessions", "delete", "@last", "--reason", line}, {"sessions", "delete", "--empty-trash"},
		{"config", "set", "principals", string(principals)}, {"config", "set", "proposals", "true"},
		{"workflows", "attach", "attached"},
		{"send-back", "@last", "--reason", line}, {"deny", "@last", "--reason", line},
		{"proposals", "apply", proposal}, {"proposals", "apply", proposal, "--override", "--reason", line}}
}

// notViews are the commands that the corpus leaves out.
var notViews = map[string]string{
	"runs take-back":     "a change",
	"audit show":         "prints one entry of 'audit list --details', by the same code",
	"guard hook":         "writes JSON only: TestHookAnswersPrintNothingInvisible",
	"workflows builtins": "prints nothing of a store or file",
	"version":            "prints nothing of a store or file",
	"console":            "prints its address and a file; its pages: TestConsoleShowsTheStore and testdata/web",
	"store init":         "prints nothing of a store: TestRolesOfAStore",
	"store check":        "prints facts of a database: TestStoreOfAnotherVersion",
	"serve":              "prints one line, with its address: TestServedWalk",
	"runs search":        "cuts texts at a number of bytes, by which the layout differs: testdata/script/search.txtar",
	"runs report":        "writes a page: TestReportIsInert",
	"runs watch":         "runs until it is interrupted and writes the lines of runs timeline",
}

// TestEveryCommandIsInTheCorpus: each command is called by TestInjectionsInTextViews, or left out for a
// stated reason.
func TestEveryCommandIsInTheCorpus(t *testing.T) {
	s := newInjected(t, 80, strings.TrimSpace, strings.TrimSpace)
	s.write("plain.txt", "text")
	called := map[string]bool{}
	root := newRoot(&cli.App{})
	for _, args := range s.views("LINE") {
		if cmd, _, err := root.Find(args); err == nil {
			called[cmd.CommandPath()] = true
		}
	}
	walk(root, func(cmd *cobra.Command) {
		name := strings.TrimPrefix(cmd.CommandPath(), "waybill ")
		_, leftOut := notViews[name]
		if !cmd.HasSubCommands() && called[cmd.CommandPath()] == leftOut {
			t.Errorf("%s: called %v, left out %v", name, !leftOut, leftOut)
		}
	})
}

// layoutOf describes the layout of a view: the indentation of each line. Colors are left out, and so
// are lines that a spinner has drawn over.
func layoutOf(view string) (out []string) {
	view = escapes().ReplaceAllString(drawnOver().ReplaceAllString(view, ""), "")
	for line := range strings.SplitSeq(view, "\n") {
		out = append(out, fmt.Sprintf("%d", len(line)-len(strings.TrimLeft(line, " "))))
	}
	return out
}

// styles matches the colors of the program.
var styles = expression(`\x1b\[([0-2]|3[0-7]|90)?m|\r\x1b\[2K`)

// TestInjectionsInTextViews puts each character that a terminal executes or does not show into every
// place that takes text. No view at a terminal or in a pipe writes one as it is, and each view has the
// layout that it has with a harmless text of the same width.
func TestInjectionsInTextViews(t *testing.T) {
	mixed := ""
	for i, text := range injections[:len(injections)/2] {
		mixed += string(rune('a'+i)) + text
	}
	rest := ""
	for i, text := range injections[len(injections)/2:] {
		rest += string(rune('a'+i)) + text
	}
	breaks := strings.Repeat("\n", 60) + "Approve? [y/N] y" + strings.Repeat("\u2028\r", 10)
	cases := sample.OneIn(t, 3) // the line breaks at full width, and perhaps the second half
	for _, c := range []struct {
		name, inject string
		columns      uint16
	}{{"line breaks", breaks, 200}, {"line breaks in 120 columns", breaks, 120},
		{"first half", mixed, 40}, {"second half", rest, 80}} {
		if !cases.Try() {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			keep := func(s string) string { return s }
			hostile := newInjected(t, c.columns, keep, keep)
			harmlessOne := newInjected(t, c.columns, func(s string) string { return harmless(s, true) },
				func(s string) string { return harmless(s, false) })
			compareViews(t, hostile, harmlessOne, c.inject)
		})
	}
}

// structureOf is the layout of a view whose texts may have other lengths: without the rows that
// continue a text, which are quoted as the row before, or indented as it or further.
func structureOf(view string) (out []string) {
	view = differing().ReplaceAllString(escapes().ReplaceAllString(drawnOver().ReplaceAllString(view, ""), ""), "")
	const none = -1
	last, command := none, false
	for line := range strings.SplitSeq(strings.TrimRight(view, "\n"), "\n") {
		text := strings.TrimLeft(line, " ")
		indent := len(line) - len(text)
		row := fmt.Sprint(indent)
		if strings.HasPrefix(text, "│") {
			row += " quoted"
		}
		continues := last != none && (indent >= last+4 || indent > 0 && indent == last || command && indent > last)
		if text == "" || continues || len(out) > 0 && row == out[len(out)-1] && strings.HasSuffix(row, "quoted") {
			continue
		}
		command = strings.HasPrefix(text, "$ ")
		if out = append(out, row); !strings.HasSuffix(row, "quoted") {
			last = indent
		}
	}
	return out
}

// differing matches what depends on the content and not on its layout: an artifact, which is shown or
// named, and the rows of similar artifacts.
var differing = expression(`(?s)  text/plain\n.*?\n\n|\n +[0-9]+%  [^\n]*`)

// sizeOf matches a size at the begin of a line, which is aligned at its end.
var sizeOf = expression(`(?m)^ *[0-9.]+ [kMG]?B`)

// marked reports views that name what they replace, and so are longer than with harmless text: what a
// person consents to, errors that quote an argument with escapes, similar proposals, answers in JSON, and the timeline,
// which has the first line of a title only. Files of tests are quoted in problems.
func marked(args []string, inject string) bool {
	switch args[0] + " " + args[min(1, len(args)-1)] {
	case "artifacts erase", "config set", "config confirm", "sessions delete", "proposals apply", "approve approve", "send-back @last", "deny @last", "proposals get", "proposals approve", "trust test.cmd", "run --run", "run test.cmd",
		"run test.ask", "runs timeline", "workflows attach", "guard test", "workflows test":
		return true
	}
	return strings.Contains(strings.Join(args, " "), inject)
}

// newInjected returns an empty store of its own directory.
func newInjected(t *testing.T, columns uint16, line, text func(string) string) *injected {
	t.Helper()
	dir := t.TempDir()
	return &injected{t, dir, append(os.Environ(), "HOME="+dir, "WAYBILL_HOME="+filepath.Join(dir, "home"),
		"XDG_CONFIG_HOME="+dir, "TERM=xterm", "NO_COLOR=", "WAYBILL_PAGER=cat"), columns, line, text}
}

// compareViews compares each view of a store with hostile text with that of one with harmless text.
func compareViews(t *testing.T, hostile, other *injected, inject string) {
	t.Helper()
	t.Chdir(hostile.dir)
	hostile.fill(inject)
	shown := map[string]string{}
	views := hostile.views(inject)
	for i, args := range views {
		for _, at := range []string{"terminal", "pipe"} {
			view := hostile.atTerminal
			if at == "pipe" {
				view = func(args ...string) string { out, _ := hostile.call(args...); return out }
			}
			text := view(args...)
			shown[fmt.Sprint(i, at)] = text
			plain := text
			if at == "terminal" {
				plain = styles().ReplaceAllString(text, "")
			}
			for j, r := range plain {
				if isRaw(r) {
					t.Errorf("%s: %.60q writes %U as it is: %q", at, args, r, plain[max(j-60, 0):min(j+20, len(plain))])
					break
				}
			}
		}
	}
	t.Chdir(other.dir)
	other.fill(inject)
	for i, args := range other.views(inject) {
		for _, at := range []string{"terminal", "pipe"} {
			var text string
			if at == "terminal" {
				text = other.atTerminal(args...)
			} else {
				text, _ = other.call(args...)
			}
			was := shown[fmt.Sprint(i, at)]
			layout := layoutOf
			if marked(views[i], inject) || args[0] == "export" || args[0] == "import" || args[0] == "push" { // times and names of files
				layout = structureOf
			}
			if args[0] == "du" {
				was, text = sizeOf().ReplaceAllString(was, "size"), sizeOf().ReplaceAllString(text, "size")
			}
			if got, want := fmt.Sprint(layout(was)), fmt.Sprint(layout(text)); got != want {
				t.Errorf("%s: %.60q has another layout:\n%s\nthan with harmless text:\n%s", at, views[i], was, text)
			}
		}
	}
}
