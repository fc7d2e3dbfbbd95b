//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
)

// viewed is a store whose views are the same in each test: the clock of a call is set, and its random bytes depend on the
// number of the call.
type viewed struct {
	*testing.T
	dir   string
	clock time.Time
	calls int
}

// viewedAt is the time of the first call, and at which golden stores are viewed.
var viewedAt = time.Date(2026, 12, 1, 9, 30, 0, 0, time.UTC)

// run calls the program in this process.
func (v *viewed) run(out io.Writer, colored bool, args ...string) int {
	v.calls++
	env := []string{"HOME=" + v.dir, "USERPROFILE=" + v.dir, "WAYBILL_HOME=" + filepath.Join(v.dir, "home"),
		"XDG_CONFIG_HOME=" + filepath.Join(v.dir, "config"), "TERM=xterm", "PATH=" + os.Getenv("PATH")}
	if !colored {
		env = append(env, "NO_COLOR=1")
	}
	a := newApp(args, strings.NewReader(""), out, out, append(env, ownIdentity...))
	a.Clock = func() time.Time { return v.clock }
	a.Entropy = rand.NewChaCha8([32]byte{byte(v.calls), byte(v.calls >> 8)})
	return a.Execute(newRoot(a))
}

// record calls a command that records facts, 97 seconds after the one before; it must end with status 0 or 3.
func (v *viewed) record(args ...string) {
	v.Helper()
	v.clock = v.clock.Add(97 * time.Second)
	var out bytes.Buffer
	if status := v.run(&out, false, args...); status != 0 && status != 3 {
		v.Fatalf("%q: exit status %d\n%s", args, status, &out)
	}
}

// view returns what a command prints at a terminal of a width; 0 is a pipe.
func (v *viewed) view(columns int, colored bool, args ...string) string {
	v.Helper()
	if columns == 0 {
		var out bytes.Buffer
		v.run(&out, colored, args...)
		return out.String()
	}
	user, tty, err := pty.Open()
	if err == nil {
		err = pty.Setsize(tty, &pty.Winsize{Rows: 500, Cols: uint16(columns)})
	}
	if err != nil {
		v.Fatal(err)
	}
	read := make(chan string)
	go func() {
		screen, _ := io.ReadAll(user) // ends with EIO when the terminal is closed
		read <- strings.ReplaceAll(string(screen), "\r\n", "\n")
	}()
	v.run(tty, colored, args...)
	_ = tty.Close()
	screen := <-read
	_ = user.Close()
	return screen
}

// viewedFlow has titles with wide, combining and joined characters, and text that is syntax elsewhere.
const viewedFlow = `
id: demo.views
name: Größe 測試
description: d
version: 1.0.0
inputs:
  - {contextKey: ticket, reason: needs_user_artifact, description: the number of the ticket}
steps:
  - {id: look, title: "Look at 日本語の表 for {{ticket}}", prompt: Look closely., notesRequired: true}
  - {id: pick, title: "Pick 🚀 👩‍👩‍👧 e\u0301 한글", prompt: Pick one.}
  - {id: cut, title: 'Cut "]; --> x{{a}} %%{init}%% <b>', prompt: Cut it.}
  - id: rounds
    type: loop
    title: Rounds
    loop: {type: for, count: 2, maxIterations: 2}
    body: [{id: round, title: Round and round, prompt: Go.}]
  - {id: ship, title: Ship, prompt: Ship it., requireConfirmation: {kind: human_approval}}
`

// viewedStore returns a store with a complete run, one with branches, checkpoint, blocked attempt and annotation, a fork, one
// that is cancelled and one that has only begun.
func viewedStore(t *testing.T) *viewed {
	v := &viewed{T: t, dir: t.TempDir(), clock: viewedAt}
	t.Chdir(v.dir)
	for name, text := range map[string]string{"flow.yaml": viewedFlow, "one.json": `{"kind":"report","n":1}`} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	start := func(title, ticket string) {
		v.record("start", "flow.yaml", "--title", title, "--set", "ticket="+ticket)
	}
	start("Erste Ausführung", "T1")
	v.record("continue", "--run", "@last", "--notes", "Looked at all of it.\n\n- 日本語 one\n- two", "--artifact", "one.json")
	v.record("continue", "--run", "@last", "--notes", "Picked the first one, since it is the shortest one and known to all readers.")
	start("第二回 🚀 with a title that is longer than most titles are, by far", "T2")
	v.record("continue", "--run", "@last", "--done") // refused: it requires notes
	v.record("continue", "--run", "@last", "--notes", "looked", "--set", "size=large")
	v.record("checkpoint", "--run", "@last", "--notes", "half of it")
	v.record("continue", "--run", "@last", "--notes", "picked")
	v.record("continue", "--run", "@last", "--at", "pick", "--notes", "picked otherwise", "--artifact", "one.json")
	v.record("continue", "--run", "@last", "--notes", "cut")
	v.record("annotate", "@last", "--rating", "4", "--note", "good")
	v.record("fork", "@last", "--title", "Gabelung")
	v.record("continue", "--run", "@last", "--notes", "round")
	start("Abgebrochen", "T3")
	v.record("runs", "cancel", "@last", "--reason", "no longer needed")
	start("Blocked", "T4")
	v.record("continue", "--run", "@last", "--done")
	v.clock = v.clock.Add(26 * time.Hour)
	return v
}

// runsOf returns the ids of the runs of the store by their titles.
func (v *viewed) runsOf() map[string]string {
	var list struct {
		Data struct {
			Runs []struct{ RunID, Title string }
		}
	}
	decodeJSON(v.T, v.view(0, false, "runs", "list", "--json"), &list)
	ids := map[string]string{}
	for _, r := range list.Data.Runs {
		ids[strings.Fields(r.Title)[0]] = r.RunID
	}
	return ids
}

// viewCalls are the commands whose text has golden files, by the name of the files. {WORD} is the run whose title begins with
// the word.
var viewCalls = map[string]string{
	"list": "runs list", "list-status": "runs list --sort status", "list-none": "runs list --status failed",
	"show": "runs show {第二回}", "show-first": "runs show {Erste}", "show-cancelled": "runs show {Abgebrochen}",
	"show-blocked": "runs show {Blocked}", "show-fork": "runs show {Gabelung}", "show-step": "runs show {第二回} --step look",
	"timeline": "runs timeline {第二回}", "timeline-brief": "runs timeline {第二回} --brief", "graph": "runs graph {第二回}",
	"mermaid": "runs graph {第二回} --mermaid", "graph-cancelled": "runs graph {Abgebrochen}", "diff": "runs diff {Erste} {第二回}", "diff-fork": "runs diff {第二回} {Gabelung}",
	"resume": "resume", "inbox": "inbox", "inspect": "workflows inspect flow.yaml",
	"inspect-compiled": "workflows inspect flow.yaml --compiled", "inspect-pinned": "workflows inspect --pinned {Erste}", "artifacts": "artifacts list", "sessions": "sessions list",
	"annotations": "annotations list {第二回}", "summary": "annotations summary",
}

// storedViews are those of the golden store v1: loops, commands, approvals, imported and unfinished runs.
var storedViews = map[string]string{
	"v1-list": "runs list", "v1-show-complete": "runs show {Complete}", "v1-show-loops": "runs show {Loops}", "v1-show-command": "runs show {Command}",
	"v1-show-approved": "runs show {Approved}", "v1-show-imported": "runs show {Travelled}", "v1-timeline-loops": "runs timeline {Loops}",
	"v1-timeline-approved": "runs timeline {Approved}", "v1-graph-loops": "runs graph {Loops}", "v1-logs": "runs logs {Command}", "v1-sessions": "sessions list",
	"v1-diff": "runs diff {Complete} {Unfinished}", "v1-inbox": "inbox", "v1-resume": "resume", "v1-audit": "audit list",
}

// TestViews compares each view at 20, 40, 80 and 200 columns, plain and coloured, and in a pipe with its golden file. A view has
// the same text with and without colors, no line that is wider than the terminal at 40 columns and more, and no color in a pipe.
func TestViews(t *testing.T) {
	own := viewedStore(t)
	own.golden(viewCalls)
	dir := t.TempDir()
	stored := &viewed{T: t, dir: dir, clock: viewedAt, calls: 1000}
	copyStore(t, testdataOf(t, "stores/v1/store"), filepath.Join(dir, "home/local"), 0o700, 0o600)
	t.Chdir(dir)
	stored.golden(storedViews)
}

// golden compares views.
func (v *viewed) golden(all map[string]string) {
	ids := v.runsOf()
	for name, call := range all {
		v.T.Run(name, func(t *testing.T) {
			v := &viewed{T: t, dir: v.dir, clock: v.clock, calls: v.calls}
			for word, run := range ids {
				call = strings.ReplaceAll(call, "{"+word+"}", run)
			}
			for _, columns := range []int{0, 20, 40, 80, 200} {
				plain := v.view(columns, false, strings.Fields(call)...)
				colored := v.view(columns, true, strings.Fields(call)...)
				if bare := escapes().ReplaceAllString(colored, ""); bare != plain || columns == 0 && bare != colored {
					t.Errorf("%d columns: other text with colors:\n%q\n%q", columns, colored, plain)
				}
				if plain == "" {
					t.Errorf("%d columns: no text", columns)
				}
				for line := range strings.SplitSeq(plain, "\n") {
					if columns >= 40 && page.TextWidth(line) > columns && !isUnbroken(line) {
						t.Errorf("%d columns: %d: %s", columns, page.TextWidth(line), line)
					}
				}
				text := "-- plain --\n" + plain
				if columns > 0 {
					text += "-- colored --\n" + strings.ReplaceAll(colored, "\x1b", "␛")
				}
				compareGolden(t, fmt.Sprintf("%s/%s.%03d.txt", testdataOf(t, "views"), name, columns), text)
			}
		})
	}
}

// isUnbroken reports a line with what is never broken: a command or id to copy, a line of a diagram, or a long word.
func isUnbroken(line string) bool {
	words := strings.Fields(line)
	return unbroken().MatchString(line) || len(words) <= 2 && len(words[len(words)-1]) >= page.TextWidthMin
}

var unbroken = expression(`waybill |sha256:[0-9a-f]{64}|(run|sess|store|node)_[a-z2-7]{26}|^graph TD$|^  [a-z2-7]{8}[\[{( ]`)

// packageDir is the directory in which go test starts the tests of this package.
var packageDir, _ = os.Getwd()

// testdataOf returns the absolute path of test data, of this package or of all.
func testdataOf(t *testing.T, name string) string {
	t.Helper()
	if strings.HasPrefix(name, "stores/") {
		return filepath.Join(packageDir, "../../testdata", name)
	}
	return filepath.Join(packageDir, "testdata", name)
}

// compareGolden compares a text with a file, or writes it with -update.
func compareGolden(t *testing.T, name, text string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil || string(want) != text {
		t.Errorf("%s is not current: run 'go test ./cmd/waybill -run TestViews -update' (%v)\n%s", filepath.Base(name), err,
			firstDifference(text, string(want)))
	}
}

// decodeJSON decodes a document.
func decodeJSON(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v: %.300s", err, text)
	}
}
