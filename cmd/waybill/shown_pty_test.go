//go:build linux

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// TestResultsFitTheTerminal: what the commands about results print has no styles as text, and no row of it is wider than the
// terminal.
func TestResultsFitTheTerminal(t *testing.T) {
	t.Parallel()
	dir := newDir(t, logsFlow)
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "x.json"), []byte(`{"kind":"test.of_an_artifact","x":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	startAtTerminal(t, dir, 100, "start", "w.yaml").expectExit(0)
	startAtTerminal(t, dir, 100, "checkpoint", "--run", "@last", "--notes", "so far", "--artifact", "x.json").expectExit(0)
	startAtTerminal(t, dir, 100, "run", "w.yaml", "--trust", "--set", `services=["a","b"]`, "--notes", "n").expectExit(0)
	for _, args := range [][]string{{"runs", "show"}, {"runs", "show", "--step", "build"}, {"artifacts", "list"}, {"runs", "list"}} {
		for _, columns := range []uint16{80, 120} {
			s := terminalOf(t, dir, "waybill", args...)
			s.cmd.Env = slices.DeleteFunc(s.cmd.Env, func(v string) bool { return strings.HasPrefix(v, "NO_COLOR=") })
			s.start(columns)
			s.expectExit(0)
			s.shownNarrow(int(columns))
			if strings.Contains(s.text(), "␛") {
				t.Errorf("%v: styles are printed as text:\n%s", args, s.text())
			}
		}
	}
}

// TestHostileArtifactsAtTheTerminal: kinds, types and actors of an imported log, and the bytes of an artifact, reach a terminal
// with no character that it executes or hides.
func TestHostileArtifactsAtTheTerminal(t *testing.T) {
	t.Parallel()
	const hostile = "\x1b[2J\u009b31m\u202e\r\n\a"
	dir := newDir(t, logsFlow)
	startAtTerminal(t, dir, 100, "start", "wr.change_checklist", "--set", "change=x").expectExit(0)
	bytes := []byte("a\x9b31m\x1b[2J\r\n\u202e\x00\xff\x1b]0;t\a\x9d")
	var digest string
	events := storeEvents(t, filepath.Join(dir, "home/local"), func(hash, snapshot canon.Digest) manifest.Plan {
		plan := everyMember(hash, snapshot)
		for i, e := range plan.Events {
			if p, ok := e.Data.(event.NodeOutputAppended); ok && p.OutputChannel == event.Artifact {
				object := manifest.Object{Kind: manifest.Artifact, Bytes: bytes}
				digest = object.Ref().String()
				p.Payload.SHA256, p.Payload.ByteLength = object.Ref(), int64(len(bytes))
				p.Payload.ContentType, p.Payload.ArtifactKind = "text/"+hostile, "kind"+hostile
				p.Decision = nil // it has a kind of its own
				plan.Events[i].Data, plan.Events[i].Actor.Ref = p, "ref"+hostile
				plan.Objects = []manifest.Object{object}
			}
		}
		return plan
	})
	run := events[1].Scope.RunID.String()
	for _, args := range [][]string{{"artifacts", "list"}, {"artifacts", "show", digest}, {"artifacts", "get", digest},
		{"runs", "show", run}, {"runs", "show", run, "--step", "reason"}, {"runs", "logs", run}, {"artifacts", "list", "--json"},
		{"artifacts", "show", digest, "--json"}} {
		s := startAtTerminal(t, dir, 80, args...)
		s.expectExit(0)
		if i := strings.IndexFunc(s.text(), isRaw); i >= 0 || !utf8.ValidString(s.text()) {
			t.Errorf("%v: a raw character at %d: %q", args, i, s.text())
		}
	}
}
