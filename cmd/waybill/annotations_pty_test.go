//go:build linux

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// runPiped runs the program without a terminal, on the store of dir, and returns its output.
// The exit status must be 0.
func runPiped(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("waybill", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "WAYBILL_HOME="+dir+"/home", "XDG_CONFIG_HOME="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return string(out)
}

// screenText runs the program at a terminal and returns all text that it wrote. The exit
// status must be 0.
func screenText(t *testing.T, dir string, columns uint16, args ...string) string {
	t.Helper()
	s := startAtTerminal(t, dir, columns, args...)
	s.expectExit(0)
	return s.text()
}

// TestAnnotationsAtATerminal checks the text output at a terminal: it has symbols, fits the
// width of the terminal, and has no <UNTRUSTED> marks.
func TestAnnotationsAtATerminal(t *testing.T) {
	t.Parallel()
	dir := newDir(t, personFlow)
	runPiped(t, dir, "start", "w.yaml", "--title", "Flow")
	if got := screenText(t, dir, 80, "annotate", "@last", "--rating", "4", "--as", "ada", "--note",
		"Correct but slow: it took three rounds of reading until the error was found"); !strings.Contains(got,
		"✓ Annotated the run") || !strings.Contains(got, "★★★★☆") {
		t.Error(got)
	}
	runPiped(t, dir, "annotate", "@last", "--node", "read", "--correction", "Read all of it,\nthen speak \x1b[31m",
		"--confidence", "0.75")
	runPiped(t, dir, "annotate", "@last", "--label", "off-brand")
	runPiped(t, dir, "annotate", "@last", "--flag")
	for _, columns := range []uint16{80, 50} {
		for _, call := range [][]string{{"annotations", "list", "@last"}, {"annotations", "summary"},
			{"annotations", "summary", "@last"}, {"runs", "show"}, {"runs", "list"}} {
			got := screenText(t, dir, columns, call...)
			if strings.Contains(got, "UNTRUSTED") || strings.Contains(got, "\x1b") {
				t.Errorf("%q at %d columns:\n%s", call, columns, got)
			}
			for line := range strings.Lines(got) {
				if n := len([]rune(strings.TrimRight(line, "\n"))); n > int(columns) {
					t.Errorf("%q at %d columns: a line of %d:\n%s", call, columns, n, line)
				}
			}
		}
	}
	for what, wants := range map[string][]string{
		"annotations list @last": {"  ada  ★★★★☆  the run\n" +
			"          Correct but slow: it took three rounds of reading until the error was\n          found\n",
			"Sam  ✎ correction  “Read it”  75% sure\n          │ Read all of it,\n          │ then speak ␛[31m\n",
			"# off-brand  the run\n", "⚑ flag  the run\n"},
		"annotations summary": {"  ★★★★☆ 4 · 1 rating\n  5 " + strings.Repeat(" ", 40) + " 0\n  4 " +
			strings.Repeat("█", 40) + " 1\n", "✎ 1 correction (25%) · ⚑ 1 flag (25%)\n  # off-brand 1\n",
			"★★★★☆ 4      4  1  1  Flow\n"},
		"runs show": {"★★★★☆ 4 · ⚑ 1 flag · 4 annotations\n"},
		"runs list": {"★4 ⚑1"},
	} {
		got := screenText(t, dir, 80, strings.Fields(what)...)
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", what, want, got)
			}
		}
	}
}

// TestWatchShowsNewAnnotations annotates a run while 'runs watch' follows it, and with
// --stay after the run has ended.
func TestWatchShowsNewAnnotations(t *testing.T) {
	t.Parallel()
	dir := newDir(t, personFlow)
	runPiped(t, dir, "start", "w.yaml")
	s := startAtTerminal(t, dir, 60, "runs", "watch")
	s.expect("Watching run")
	runPiped(t, dir, "annotate", "@last", "--rating", "2", "--as", "ada", "--note", "Too short")
	s.expect("ada     Annotated the run: ★★☆☆☆\n          Too short\n")
	runPiped(t, dir, "annotate", "@last", "--node", "read", "--correction", "Longer")
	s.expect("Annotated “Read it”: ✎ correction\n          │ Longer\n")
	runPiped(t, dir, "runs", "cancel", "@last", "--reason", "enough")
	s.expectExit(0)

	if got := screenText(t, dir, 60, "runs", "watch"); !strings.Contains(got, "has ended. Show its history") {
		t.Error(got)
	}
	piped := startProgramAtTerminal(t, dir, 200, "sh", "-c", "waybill runs watch --all --stay --json | cat")
	piped.expect(`"kind":"session_created"`)
	runPiped(t, dir, "annotate", "@last", "--flag", "--as", "bo")
	piped.expect(`{"v":1,"kind":"run.annotated","data":{"actor":{"principalRef":"bo"},`)
	if strings.Contains(piped.text(), "Longer") {
		t.Errorf("an annotation from before the call is printed:\n%s", piped.text())
	}
	piped.typeText("\x03")
	<-piped.done
	plain := startProgramAtTerminal(t, dir, 200, "sh", "-c", "waybill runs watch --all --stay | cat")
	plain.expect("The run was closed")
	runPiped(t, dir, "annotate", "@last", "--label", "</untrusted>")
	plain.expect("Annotated the run: label <UNTRUSTED>&lt;/untrusted></UNTRUSTED>")
	plain.typeText("\x03")
	<-plain.done

	s = startAtTerminal(t, dir, 60, "runs", "watch", "--stay")
	s.expect("has ended. Watching for annotations")
	s.typeText("\x03")
	s.expectExit(0)
}
