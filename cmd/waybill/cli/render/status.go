// Package render formats values that several commands print: states, steps, timeline entries,
// actors, annotations and the result of a verification. It writes them to a page.Page; it
// opens no store and makes no decisions.
//
// A page with a width is a terminal, read by a person: signs and short ids are used. A page
// without one may be read by a program: words and complete ids are used.
package render

import (
	"strings"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/projections/runs"
)

// Status returns the status of a run with spaces instead of underscores.
//
//go:noinline
func Status(s runs.Status) string { return strings.ReplaceAll(string(s), "_", " ") }

// Health returns the health of a log with spaces instead of underscores.
//
//go:noinline
func Health(h manifest.Health) string { return strings.ReplaceAll(string(h), "_", " ") }

// Sign returns the sign of a status: complete, failed or cancelled, needs attention, or in progress. The same signs are
// before steps: done, not done, blocked and pending.
func Sign(s runs.Status) string {
	switch s {
	case runs.CompleteStatus:
		return "✓"
	case runs.Failed, runs.Cancelled:
		return "✗"
	case runs.Blocked, runs.Paused, runs.CompleteWithGaps, runs.Cancelling:
		return "!"
	}
	return "●"
}

// DamagedSign is the sign of a run whose session is damaged, instead of that of its status.
const DamagedSign = "!"

// Mark returns the sign before the title of a run, in the style of its status.
func Mark(p *page.Page, s runs.Status) string {
	if paint := StatusStyle(p, s); paint != nil {
		return paint(Sign(s))
	}
	return p.Bold(Sign(s))
}

// NodeMark returns the sign before a node of a run with a status, as the steps of 'runs show' have it: the node at which
// the run continues has that of the run, one that was passed is done, and an open one of another branch is empty.
func NodeMark(p *page.Page, n views.GraphNode, s runs.Status) string {
	switch {
	case n.NodeKind == event.CheckpointNode:
		return p.Dim("◇")
	case n.PreferredTip:
		return Mark(p, s)
	case n.NodeKind == event.BlockedAttemptNode:
		return p.Warn("!")
	case n.Tip && !n.Complete:
		return p.Dim("○")
	}
	return p.Good("✓")
}

// ForeignMark marks runs and facts with records of another program or a newer version
// (docs/design.md#foreign-stores).
const ForeignMark = "*"

// ForeignNote explains ForeignMark below a list.
const ForeignNote = "Contains facts of another program or a newer version. Known facts are shown; " +
	"nothing can be added."

// StatusStyle returns the style for a status: colored if the run has ended or needs a person,
// nil if it is in progress.
func StatusStyle(p *page.Page, s runs.Status) func(string) string {
	switch s {
	case runs.CompleteStatus:
		return p.Good
	case runs.Failed, runs.Cancelled:
		return p.Bad
	case runs.InProgress:
		return nil
	}
	return p.Warn
}
