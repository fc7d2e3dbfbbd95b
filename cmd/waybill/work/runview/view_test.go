package runview

import (
	"bytes"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// plain returns a view that writes to a buffer, as to a file.
func plain(quiet bool) (*View, *bytes.Buffer) {
	out := &bytes.Buffer{}
	v := New(Options{Out: out, Getenv: func(string) string { return "" }, Quiet: quiet,
		Short: func(id.Run) string { return "abc" }})
	return v, out
}

// story calls all display methods of a view for one run.
func story(v *View) {
	v.RunOpened(perform.RunView{Workflow: "Release", Title: "Release 2.4", Steps: 3, Done: 1, Sources: byDefault})
	v.StepBegan(perform.StepView{At: 2, Of: 3, Title: "Build \x1b[31mit", Argv: []string{"make", "a b"}, Cwd: "src"})
	v.TryBegan(perform.TryView{Argv: []string{"make", "a b"}, Cwd: "src", Try: 1, Of: 2})
	_, _ = v.Output().Write([]byte("one\ntw"))
	_, _ = v.Output().Write([]byte("o\nno end"))
	v.TryEnded(perform.TryEnd{CommandOutcome: ports.CommandOutcome{ExitStatus: 7, DurationMs: 1500}, PauseMs: 3000})
	v.TryBegan(perform.TryView{Argv: []string{"make", "a b"}, Try: 2, Of: 2})
	v.TryEnded(perform.TryEnd{Last: true})
	v.StepEnded(perform.StepEnd{ElapsedMs: 61_000})
	v.StepBegan(perform.StepView{At: 3, Of: 3, Title: "Tell", Prompt: "## Do\n\nTell them.\n\n---\nOUTPUT",
		Warnings: []string{"absent"}, Refused: []string{"empty"}})
	v.Blocked([]reason.Blocker{{Message: "too short", SuggestedFix: "Write more."}})
	v.StepEnded(perform.StepEnd{ElapsedMs: 5})
	r := perform.Report{Workflow: "Release", Performed: 2, ElapsedMs: 3_700_000}
	r.Last.Status = runs.CompleteStatus
	v.Summary(r, "waybill runs show abc")
}

func TestPlainView(t *testing.T) {
	v, out := plain(false)
	story(v)
	want := `Release 2.4 · Release
abc · 3 steps · 1 done before

[2/3] Build ␛[31mit
  $ make 'a b' (in src)
  │ one
  │ two
  │ no end
  ✗ exit status 7 after 1.5s, next try in 3s
  $ try 2 of 2
  ✓ 1m01s

[3/3] Tell
  ! absent
  Do

  Tell them.

  ───
  OUTPUT

  Not accepted before, because:
  ! empty
  Not accepted:
  ! too short
  → Write more.
  ✓ 5ms

✓ Release is complete
  2 steps in 1h01m · abc
  Show it with 'waybill runs show abc'.
`
	if got := out.String(); got != want {
		t.Errorf("shown:\n%s\nwant:\n%s", got, want)
	}
}

func TestQuietView(t *testing.T) {
	v, out := plain(true)
	story(v)
	want := `[3/3] Tell
  ! absent
  Do

  Tell them.

  ───
  OUTPUT

  Not accepted before, because:
  ! empty
  Not accepted:
  ! too short
  → Write more.
`
	if got := out.String(); got != want {
		t.Errorf("shown:\n%s\nwant:\n%s", got, want)
	}
	v, out = plain(true)
	v.StepBegan(perform.StepView{At: 1, Of: 1, Title: "Build"})
	v.TryBegan(perform.TryView{Argv: []string{"make"}, Try: 1, Of: 1})
	_, _ = v.Output().Write([]byte("not shown\n"))
	long := "start\n" + strings.Repeat("line\n", 30) + "end\n"
	v.TryEnded(perform.TryEnd{CommandOutcome: ports.CommandOutcome{ExitStatus: -1,
		Failure: "it was ended by signal 9 (killed)", OutputHead: long}, Last: true})
	v.Blocked([]reason.Blocker{{Message: "the command failed"}})
	got := out.String()
	if !strings.HasPrefix(got, "[1/1] Build\n  │ …\n  │ line\n") ||
		!strings.HasSuffix(got, "  │ line\n  │ end\n  ✗ it was ended by signal 9 (killed)\n") ||
		strings.Count(got, "\n") != 2+replayLines+1 {
		t.Errorf("shown:\n%s", got)
	}
}

func TestSummary(t *testing.T) {
	v, out := plain(false)
	v.Summary(perform.Report{Already: true}, "show it")
	if got := out.String(); got != "This run is already complete: abc\nShow it with 'show it'.\n" {
		t.Errorf("shown: %q", got)
	}
	v, out = plain(false)
	r := perform.Report{Workflow: "W", Performed: 1}
	r.Last.Status = runs.CompleteWithGaps
	v.Summary(r, "show it")
	if got := out.String(); !strings.HasPrefix(got, "! W is complete, with gaps\n  1 step in 0s") {
		t.Errorf("shown: %q", got)
	}
	if v.Present() {
		t.Error("a person is seen in a buffer")
	}
}

func TestControlSequencesAreRemoved(t *testing.T) {
	v, out := plain(false)
	v.RunOpened(perform.RunView{Workflow: "a\x1bb", Steps: 1, Sources: byDefault})
	v.StepBegan(perform.StepView{At: 1, Of: 1, Title: "c\x1bd", Prompt: "e\x1bf", Warnings: []string{"g\x1bh"},
		Refused: []string{"i\x1bj"},
		Argv:    []string{"k\x1bl"}, Cwd: "m\x1bn"})
	v.TryBegan(perform.TryView{Argv: []string{"k\x1bl"}, Cwd: "m\x1bn", Try: 1, Of: 1})
	_, _ = v.Output().Write([]byte("o\x1b[2Jp\n"))
	v.TryEnded(perform.TryEnd{CommandOutcome: ports.CommandOutcome{Failure: "q\x1br"}, Last: true})
	v.StepBegan(perform.StepView{At: 1, Of: 1, Title: "next"})
	v.Blocked([]reason.Blocker{{Message: "s\x1bt", SuggestedFix: "u\x1bv"}})
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("shown: %q", out.String())
	}
	if !strings.Contains(out.String(), "s␛t") {
		t.Errorf("the blockers of the second step are missing: %q", out.String())
	}
}

func TestLongOutputLineIsSplit(t *testing.T) {
	v, out := plain(false)
	v.TryBegan(perform.TryView{Argv: []string{"x"}, Try: 1, Of: 1})
	for range 100 {
		_, _ = v.Output().Write(bytes.Repeat([]byte("x"), 1000))
	}
	v.TryEnded(perform.TryEnd{Last: true})
	got := out.String()
	if n := strings.Count(got, "x") - 1; n != 100_000 {
		t.Errorf("%d of 100000 characters were shown", n)
	}
	if n := strings.Count(got, "│"); n != 100_000/lineMax+1 {
		t.Errorf("shown in %d lines", n)
	}
	if cap(v.output.rest) > 8*lineMax {
		t.Errorf("%d bytes are kept", cap(v.output.rest))
	}
}

func TestCommandLine(t *testing.T) {
	for want, argv := range map[string][]string{
		"make all":                  {"make", "all"},
		"sh -c 'echo $HOME; ls'":    {"sh", "-c", "echo $HOME; ls"},
		`echo 'it'\''s' ''`:         {"echo", "it's", ""},
		`echo "a\x1b[31m" "\u202e"`: {"echo", "a\x1b[31m", "\u202e"},
	} {
		if got := command.Line(argv); got != want {
			t.Errorf("%q is shown as %s, want %s", argv, got, want)
		}
	}
}
