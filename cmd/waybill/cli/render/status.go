// Package render shows on a page what several commands show in the same way:
// states, steps, moments, actors, annotations and the result of a verification.
// It formats documents that it is given, opens no store and decides nothing.
//
// A page with a width is read by a person, one without by a program: signs and
// short ids are for the first, words and whole ids for the second.
package render

import (
	"strings"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/projections"
)

// Status is the status of a run in words.
func Status(s projections.Status) string { return strings.ReplaceAll(string(s), "_", " ") }

// Health is the health of a log in words.
func Health(h manifest.Health) string { return strings.ReplaceAll(string(h), "_", " ") }

// Mark is the sign before the title of a run: done, failed, waiting, or at
// work.
func Mark(p *page.Page, s projections.Status) string {
	switch s {
	case projections.CompleteStatus:
		return p.Good("✓")
	case projections.Failed, projections.Cancelled:
		return p.Bad("✗")
	case projections.Blocked, projections.CompleteWithGaps, projections.Cancelling:
		return p.Warn("!")
	}
	return p.Bold("●")
}

// ForeignMark marks what holds facts that this version did not write and does
// not know.
const ForeignMark = "*"

// ForeignNote explains ForeignMark below a list.
const ForeignNote = "Holds facts of another program or a newer version. They are shown as far as they are known; " +
	"nothing can be added."

// StatusPaint is the style for a status: it colors what is over and what waits
// for a person. A run that simply continues has none, and the result is nil.
func StatusPaint(p *page.Page, s projections.Status) func(string) string {
	switch s {
	case projections.CompleteStatus:
		return p.Good
	case projections.Failed, projections.Cancelled:
		return p.Bad
	case projections.InProgress:
		return nil
	}
	return p.Warn
}
