//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWatchShowsProposals makes proposals while 'runs watch' follows a run: those from the run and from none are
// printed, in words, and for programs as the protocol defines them.
func TestWatchShowsProposals(t *testing.T) {
	t.Parallel()
	dir := newDir(t, personFlow)
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("check.json", checkProposal)
	runPiped(t, dir, "start", "w.yaml")
	s := startAtTerminal(t, dir, 80, "runs", "watch")
	s.expect("Watching run")
	runPiped(t, dir, "proposals", "create", "check.json")
	s.expect(" was created: workflow-chain-pack\n")

	piped := startProgramAtTerminal(t, dir, 300, "sh", "-c", "waybill runs watch --all --json | cat")
	piped.expect(`"kind":"session_created"`)
	write("other.json", strings.ReplaceAll(checkProposal, "Look twice", "Look thrice"))
	runPiped(t, dir, "proposals", "create", "other.json")
	piped.expect(`"kind":"workflow-chain-pack","proposalId":"prop_`)
	if got := piped.text(); strings.Count(got, "proposal.created") != 1 || strings.Contains(got, `"type"`) {
		t.Errorf("an earlier proposal is printed, or more than the payload:\n%s", got)
	}
	runPiped(t, dir, "runs", "cancel", "@last", "--reason", "enough")
	s.expectExit(0)
	<-piped.done
}

// TestWatchPrintsRunEvents: with --format openwop the lines are run events, and notifications around them.
func TestWatchPrintsRunEvents(t *testing.T) {
	t.Parallel()
	dir := newDir(t, personFlow)
	runPiped(t, dir, "start", "w.yaml")
	s := startProgramAtTerminal(t, dir, 300, "sh", "-c", "waybill runs watch --format openwop 2>&1 | cat")
	s.expect("Watching run")
	runPiped(t, dir, "annotate", "@last", "--node", "read", "--flag")
	s.expect(`{"v":1,"kind":"run.annotated","data":{`)
	s.expect(`"target":{"nodeId":"read","runId":"run_`)
	runPiped(t, dir, "runs", "cancel", "@last", "--reason", "enough")
	s.expect(`"type":"run.cancelled"}`)
	<-s.done
	if got := s.text(); strings.Contains(got, "run.started") {
		t.Errorf("an event from before the call is printed:\n%s", got)
	}
}
