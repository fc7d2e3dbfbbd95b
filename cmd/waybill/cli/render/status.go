// Package render shows on a page what several commands show in the same way: states,
// steps, moments, actors, annotations and the result of a verification. It only formats
// documents that it is given, and opens no store.
package render

import (
	"strings"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/projections"
)

// Status is a status in words.
func Status(s projections.Status) string { return strings.ReplaceAll(string(s), "_", " ") }

// Health is a health in words.
func Health(h manifest.Health) string { return strings.ReplaceAll(string(h), "_", " ") }

// Mark is the sign of a status.
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

// ForeignMark stands beside what holds facts that this version did not write.
const ForeignMark = "*"

// ForeignNote says what the mark means, wherever one stands.
const ForeignNote = "Holds facts of another program or a newer version. They are shown as far as they are known; " +
	"nothing can be added."

// StatusPaint colors what is over, and what waits for someone; what simply goes on
// needs no color.
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
