//go:build linux

package runview

import (
	"context"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/waybill/waybill/cmd/waybill/cli/consent"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/adapters"
)

// desk is a view on a pseudo-terminal without colors, with the person's end of it.
type desk struct {
	*testing.T
	*View
	person *os.File
	seen   chan string  // everything, once the terminal is closed
	shown  atomic.Int64 // how many bytes the person's end has received
	tty    *os.File
}

func sit(t *testing.T, columns uint16) *desk {
	t.Helper()
	person, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 40, Cols: columns}); err != nil {
		t.Fatal(err)
	}
	d := &desk{T: t, person: person, tty: tty, seen: make(chan string, 1)}
	d.View = New(Options{In: tty, Out: tty, NoColor: true, Getenv: func(string) string { return "" },
		Consent: consent.New(tty, tty, tty, false), Store: "/the store", Short: func(id.Run) string { return "abc" }})
	go func() {
		var all []byte
		for part := make([]byte, 4096); ; {
			n, err := person.Read(part)
			all = append(all, part[:n]...)
			d.shown.Add(int64(n))
			if err != nil {
				break
			}
		}
		d.seen <- strings.ReplaceAll(string(all), "\r\n", "\n")
	}()
	return d
}

// answers types lines, each when something was shown since the one before and nothing more follows for a moment.
func (d *desk) answers(lines ...string) {
	before := d.shown.Load()
	go func() {
		for _, line := range lines {
			if line == "" {
				continue
			}
			for n := 0; d.shown.Load() == before && n < 2000; n++ { // where nothing is shown: 10 s
				time.Sleep(5 * time.Millisecond)
			}
			for before = -1; before != d.shown.Load(); time.Sleep(120 * time.Millisecond) {
				before = d.shown.Load()
			}
			_, _ = d.person.WriteString(line)
		}
	}()
}

// screen closes the terminal and returns its text.
func (d *desk) screen() string {
	_ = d.tty.Close()
	out := <-d.seen
	_ = d.person.Close()
	return out
}

func TestTrustShowsArgvCwdAndEnv(t *testing.T) {
	const workflowText = `{"id":"test.t","name":"Deploy","description":"d","version":"1.0.0","steps":[
		{"id":"a","title":"A","action":{"kind":"command","argv":["deploy","--to","the north side"],"cwd":"in here","env":{"B":"2","A":"\u001b[8m"}}},
		{"id":"b","title":"B","prompt":"p"},
		{"id":"c","title":"C","action":{"kind":"command","argv":["true"]}}]}`
	_, w, problems := compile.File("t.json", source.SourceProject, []byte(workflowText))
	if source.HasErrors(problems) {
		t.Fatal(problems)
	}
	for typed, want := range map[string]ports.TrustAnswer{"y\n": ports.TrustOnce, "YES\n": ports.TrustOnce,
		"a\n": ports.TrustAlways,
		"\n":  ports.TrustRefused, "n\n": ports.TrustRefused, "other\n": ports.TrustRefused} {
		d := sit(t, 40)
		d.answers(typed)
		got, err := d.Trust(context.Background(), ports.TrustQuestion{Workflow: w})
		if got != want || err != nil {
			t.Errorf("%q: %s, %v", typed, got, err)
		}
		screen := d.screen()
		for _, line := range []string{"Deploy (test.t) runs 2 commands\n    that are not trusted yet:\n",
			"$ deploy --to 'the north side'\n", "in 'in here'\n", "with A=\"\\x1b[8m\"\n", "with B=2\n", "  $ true\n"} {
			if !strings.Contains(screen, line) {
				t.Errorf("no %q on the screen:\n%s", line, screen)
			}
		}
		for _, line := range strings.Split(screen, "\n") {
			if len([]rune(line)) > 40 {
				t.Errorf("%q is wider than the terminal", line)
			}
		}
	}
}

// TestTrustShowsTemplates: a command with placeholders is shown as it is written, with each of them
// below it, its value where it is known, and what the command sets.
func TestTrustShowsTemplates(t *testing.T) {
	const text = `{"id":"test.t","name":"Deploy","description":"d","version":"1.0.0","steps":[
		{"id":"a","title":"Go {{service}} {{area}}","action":{"kind":"command","argv":["deploy","--","{{service}}","v{{version}}"],"env":{"E":"{{long}}"}},
			"outputs":{"commit":"stdout","size":"json:/a b"}},
		{"id":"b","title":"B","action":{"kind":"command","argv":["echo","{{version}}"],"literal":true}}]}`
	_, w, problems := compile.File("t.json", source.SourceProject, []byte(text))
	if source.HasErrors(problems) {
		t.Fatal(problems)
	}
	values := canon.OfMembers(canon.Member{Name: "version", Value: canon.OfString("1 $(id)\u202e\n")},
		canon.Member{Name: "area", Value: canon.OfString("north")},
		canon.Member{Name: "long", Value: canon.OfString(strings.Repeat("v", 300))})
	d := sit(t, 100)
	d.answers("y\n")
	if got, err := d.Trust(context.Background(), ports.TrustQuestion{Workflow: w, Values: values}); got != ports.TrustOnce || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	screen := d.screen()
	for _, line := range []string{"Go {{service}} north\n", "    $ deploy -- '{{service}}' 'v{{version}}'\n", "with E='{{long}}'\n",
		"      '{{service}}' is filled in when the command runs\n", "      '{{version}}' is now \"1 $(id)\\u202e\\n\"\n",
		"vvv", "(300 bytes)", "sets commit from stdout\n", "sets size from 'json:/a b'\n", "    $ echo '{{version}}'\n",
		"! Words in {{ }} are placeholders"} {
		if !strings.Contains(screen, line) {
			t.Errorf("no %q on the screen:\n%s", line, screen)
		}
	}
	if strings.Count(screen, "is now") != 2 || strings.Contains(screen, strings.Repeat("v", 201)) {
		t.Errorf("the screen:\n%s", screen)
	}
}

// TestTrustOnlyOnce: where trust cannot be recorded, "always" is neither offered nor taken, and the
// reason is shown.
func TestTrustOnlyOnce(t *testing.T) {
	_, w, problems := compile.File("t.json", source.SourceProject, []byte(`{"id":"test.t","name":"T","description":"d",
		"version":"1.0.0","steps":[{"id":"s","title":"A","action":{"kind":"command","argv":["true"]}}]}`))
	if source.HasErrors(problems) {
		t.Fatal(problems)
	}
	for typed, want := range map[string]ports.TrustAnswer{"y\n": ports.TrustOnce, "a\n": ports.TrustRefused,
		"always\n": ports.TrustRefused, "\n": ports.TrustRefused} {
		d := sit(t, 80)
		d.answers(typed)
		got, err := d.Trust(context.Background(), ports.TrustQuestion{Workflow: w, OnlyOnce: "The list is not confirmed."})
		screen := d.screen()
		if got != want || err != nil || strings.Contains(screen, "/a/") || !strings.Contains(screen, "Run it once? [y/N]") ||
			!strings.Contains(screen, "! The list is not confirmed.") || strings.Contains(screen, "always allow") {
			t.Errorf("%q: %s, %v:\n%s", typed, got, err, screen)
		}
	}
}

// TestTrustShowsAllCommands: what does not fit the terminal is shown page by page, and only the
// question after the last page is answered.
func TestTrustShowsAllCommands(t *testing.T) {
	_, w, problems := compile.File("t.json", source.SourceProject,
		[]byte(`{"id":"test.t","name":"T","description":"d","version":"1.0.0",
		"steps":[{"id":"s","title":"A","action":{"kind":"command","argv":["true"]}}]}`))
	if source.HasErrors(problems) {
		t.Fatal(problems)
	}
	step := w.Steps[0]
	for len(w.Steps) < 25 {
		w.Steps = append(w.Steps, step)
	}
	for typed, want := range map[string]ports.TrustAnswer{"y\n": ports.TrustRefused, "y\ny\ny\n": ports.TrustOnce,
		"y\ny\na\n": ports.TrustAlways, "a\ny\ny\n": ports.TrustRefused} {
		d := sit(t, 80)
		d.answers(append(strings.SplitAfter(typed, "\n"), "\x04")...)
		got, _ := d.Trust(context.Background(), ports.TrustQuestion{Workflow: w})
		screen := d.screen()
		if got != want {
			t.Errorf("%q: %s, want %s:\n%s", typed, got, want, screen)
		}
		if want != ports.TrustRefused && strings.Count(screen, "$ true\n") != 25 {
			t.Errorf("shown:\n%s", screen)
		}
	}
}

func TestAsk(t *testing.T) {
	choice := ports.Question{Key: "target", Text: "Where to", Choices: []string{"2", "north", "south"}}
	for typed, want := range map[string]string{"1\n": "2", "2\n": "2", "3\n": "south", "north\n": "north"} {
		d := sit(t, 60)
		d.answers(typed)
		if got, err := d.Ask(context.Background(), choice); got != want || err != nil {
			t.Errorf("%q: %q, %v", typed, got, err)
		}
		d.screen()
	}
	d := sit(t, 60)
	d.answers("0\n", "-1\n", "4\n", "3\n")
	if got, err := d.Ask(context.Background(), choice); got != "south" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	d.screen()
	d = sit(t, 60)
	d.answers("\n", "  \n", "a b \n")
	secret := ports.Question{Key: "key", Secret: true, Text: "The key"}
	if got, err := d.Ask(context.Background(), secret); got != "a b" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if screen := d.screen(); !strings.Contains(screen, "stored in the run's log") ||
		strings.Count(screen, "An answer is required") != 2 {
		t.Errorf("shown:\n%s", screen)
	}
	d = sit(t, 60)
	d.answers("\x04")
	if _, err := d.Ask(context.Background(), choice); err != ports.ErrPersonStopped {
		t.Error(err)
	}
	d.screen()
}

func TestConfirm(t *testing.T) {
	for typed, want := range map[string]bool{"y\n": true, "Yes\n": true, "\n": false, "n\n": false, "yep\n": false} {
		d := sit(t, 60)
		d.StepBegan(perform.StepView{At: 1, Of: 1, Title: "Risky", Argv: []string{"rm", "-r", "x"}})
		d.answers(typed)
		if got, err := d.Confirm(context.Background(), "Run this command?"); got != want || err != nil {
			t.Errorf("%q: %v, %v", typed, got, err)
		}
		if screen := d.screen(); !strings.Contains(screen, "[1/1] Risky\n  $ rm -r x\nRun this command? [y/N] ") {
			t.Errorf("shown:\n%s", screen)
		}
	}
}

func TestNotesWithoutAnEditor(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	d := sit(t, 60)
	d.editor.Getenv = func(string) string { return "no-such-editor" }
	d.StepBegan(perform.StepView{At: 1, Of: 1, Title: "Say"})
	d.answers("\n", "typed after all\n")
	if got, err := d.Notes(context.Background(), ports.NotesQuestion{Required: true}); got != "typed after all" ||
		err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if screen := d.screen(); !strings.Contains(screen, "set EDITOR") {
		t.Errorf("shown:\n%s", screen)
	}
}

// TestContract: the view on a terminal passes the suite of the port, and so does one without a terminal.
func TestContract(t *testing.T) {
	adapters.Person(t, func() adapters.Desk {
		d := sit(t, 80)
		t.Cleanup(func() { _ = d.person.Close() }) // ends what still reads the terminal
		d.opts.Read = func(string) (advance.Artifact, error) { return advance.Artifact{Bytes: []byte("x")}, nil }
		return adapters.Desk{Person: d.View, Type: func(text string) { d.answers(text) }, Line: "an answer\n", Second: "2\n",
			File: "out.json\n", Yes: "y\n", Stop: "\x04"}
	})
	adapters.NoPerson(t, New(Options{In: strings.NewReader(""), Out: io.Discard, NoColor: true,
		Getenv: func(string) string { return "" }, Consent: consent.New(nil, nil, nil, false),
		Short: func(id.Run) string { return "abc" }}))
}
