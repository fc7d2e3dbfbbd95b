package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/infra/terminal"
)

func plainPage(width int) *page { return &page{styles: terminal.NewStyles(false), width: width} }

func TestTablesFitAndStayAligned(t *testing.T) {
	rows := [][]cell{{{text: "a"}, {text: "a title that is far too long for its window"}, {text: "1"}},
		{{text: "bb"}, {text: "日本語の題名"}, {text: "22"}},
		{{text: "c"}, {text: "two\nlines\tand \x1b[31mcolor"}, {text: "3"}}}
	columns := []column{{title: "ID"}, {title: "TITLE", flex: true}, {title: "N", right: true}}
	p := plainPage(30)
	p.table(columns, rows)
	lines := strings.Split(strings.TrimRight(p.String(), "\n"), "\n")
	if len(lines) != 4 {
		t.Fatalf("%d lines:\n%s", len(lines), p.String())
	}
	for _, l := range lines {
		if terminal.TextWidth(l) != 30 || strings.Contains(l, "\x1b") {
			t.Errorf("%d wide: %q", terminal.TextWidth(l), l)
		}
	}
	if !strings.Contains(lines[1], "…") {
		t.Errorf("what was cut is not marked: %q", lines[1])
	}
}

func TestTextWrapsBehindItsLead(t *testing.T) {
	p := plainPage(30)
	p.text("→ ", "one two three four five six seven eight\n\nnine")
	want := "→ one two three four five six\n  seven eight\n\n  nine\n"
	if p.String() != want {
		t.Errorf("got\n%s", p.String())
	}
	p = plainPage(0)
	p.text("  ", strings.Repeat("x ", 100))
	if strings.Count(p.String(), "\n") != 1 {
		t.Error("text in a pipe was wrapped")
	}
	p = plainPage(20)
	p.facts("short", "a longer fact", "end")
	if p.String() != "short\na longer fact · end\n" {
		t.Errorf("facts:\n%s", p.String())
	}
}

func TestShellWordsSurviveAShell(t *testing.T) {
	for word, want := range map[string]string{"": "''", "a-b_c.d/e:f=g@h%i+j,k": "a-b_c.d/e:f=g@h%i+j,k",
		"a b": "'a b'", "it's": `'it'\''s'`, "$HOME": "'$HOME'", "…": "'…'", "~": "'~'"} {
		if got := command.Word(word); got != want {
			t.Errorf("%q: %s", word, got)
		}
	}
}

func TestAges(t *testing.T) {
	now := time.UnixMilli(10_000_000_000)
	a := &app{clock: func() time.Time { return now }}
	for d, want := range map[time.Duration]string{0: "now", -time.Hour: "now", 59 * time.Second: "now",
		time.Minute: "1 min", 59*time.Minute + 59*time.Second: "59 min",
		time.Hour: "1 h", 47 * time.Hour: "47 h", 48 * time.Hour: "2 days", 1000 * time.Hour: "41 days"} {
		if got := a.ago(now.Add(-d).UnixMilli()); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
	if a.ago(0) != "" {
		t.Error("a time that is not known has an age")
	}
}

// failing is a stream that takes nothing, as a closed pipe or a full disk does.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("no room") }

func TestAnAnswerThatCannotBeWrittenIsAnError(t *testing.T) {
	var errOut bytes.Buffer
	if status := run([]string{"version"}, strings.NewReader(""), failing{}, &errOut, nil); status != fault.ExitFailed ||
		!strings.Contains(errOut.String(), "no room") {
		t.Errorf("exit status %d, %s", status, errOut.String())
	}
}

func TestABugIsAnsweredLikeAnError(t *testing.T) {
	var out, errOut bytes.Buffer
	a := &app{in: strings.NewReader(""), out: &out, errOut: &errOut,
		args: []string{"start", "wr.demo", "--json", "--store", t.TempDir() + "/s"}, entropy: strings.NewReader("")}
	// No clock: the command runs into a nil function. No entropy comes first.
	if status := a.execute(newRoot(a)); status != fault.ExitFailed ||
		!strings.Contains(out.String(), `"code":"INTERNAL_ERROR"`) || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("exit status %d: %s", status, out.String())
	}
	out.Reset()
	a.entropy = strings.NewReader(strings.Repeat("x", 1000))
	if status := a.execute(newRoot(a)); status != fault.ExitFailed || !strings.Contains(out.String(), "a bug of its own") ||
		strings.Count(out.String(), "\n") != 1 {
		t.Errorf("exit status %d: %s", status, out.String())
	}
}

func TestTenantsStayInTheirFolder(t *testing.T) {
	for name, ok := range map[string]bool{"local": true, "a": true, "a-b_c9": true, "": false, "-a": false, "_a": false,
		"..": false, "a/b": false, `a\b`: false, "A": false, "ä": false,
		strings.Repeat("x", 64): true, strings.Repeat("x", 65): false} {
		if isTenantName(name) != ok {
			t.Errorf("%q: %v", name, !ok)
		}
	}
}

// TestHelpNamesEveryAction: the help of the audit log is written by hand.
func TestHelpNamesEveryAction(t *testing.T) {
	for _, action := range audit.Actions() {
		if !strings.Contains(auditListLong, string(action)) {
			t.Errorf("the help of 'audit list' does not name %s", action)
		}
	}
}
