package render

import (
	"strings"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/projections/runs"
)

// StepRow writes one step of a run with its number, state, loop rounds, attempts and notes.
// The pending step has the sign of the run's status: of a run that has failed or was cancelled it was not done. n is 0
// where the steps before are not listed.
//
// Rounds are numbered from 1, the outermost loop first. Notes are printed in full.
func StepRow(p *page.Page, n int, s views.StepRow, status runs.Status) {
	mark, title, paint := p.Dim("○"), s.Title, page.Plain
	switch s.State {
	case views.StepDone:
		mark = p.Good("✓")
	case views.StepPending:
		mark, paint = Mark(p, status), p.Bold
		if status == runs.Cancelled || status == runs.Failed {
			title += " (not done)"
		}
	case views.StepSkipped:
		mark, title = p.Dim("–"), title+" (skipped)"
	}
	// A key that does not parse was written by a newer version; its rounds are omitted.
	if loops, _, err := snapshot.ParseKey(s.StepInstanceKey); err == nil && len(loops) > 0 {
		var rounds []string
		for _, l := range loops {
			rounds = append(rounds, page.Itoa(int(l.Iteration)+1))
		}
		title += "  (round " + strings.Join(rounds, ".") + ")"
	}
	// The first attempt is the normal case and is not mentioned.
	if s.Attempts > 1 {
		title += "  (" + page.Itoa(s.Attempts) + " attempts)"
	}
	if s.DoneAtMs > 0 {
		title += "  " + page.ClockTime(s.DoneAtMs, "15:04")
	}
	number := ""
	if n > 0 {
		number = page.Pad(page.Itoa(n), 2) + "  "
	}
	p.StyledText(mark+" "+number, title, paint)
	if s.ResultNote != "" {
		p.StyledText("       ", s.ResultNote, p.Warn)
	}
	if s.Notes != "" {
		p.Prose("       ", s.Notes, page.Plain)
	}
}

// Checkpoint writes a checkpoint with its time and its notes, indented.
func Checkpoint(p *page.Page, indent string, c runs.Checkpoint) {
	head := "checkpoint"
	if c.AtMs > 0 {
		head += "  " + page.ClockTime(c.AtMs, "2 Jan 15:04")
	}
	p.StyledText(indent, head, p.Dim)
	if c.Notes != "" {
		p.Prose(indent+"  ", c.Notes, page.Plain)
	}
}
