package prompt

import (
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
)

// Heading is the rendered title of a step.
type Heading struct {
	Text     string   // at most limits.StepTitleBytesMax bytes
	Warnings []string // about each {{path}} that the context does not contain
	// Truncated reports that values were shortened, or that the authored title was too long.
	Truncated bool
}

// Title returns the title of a step with the values of vars, filled in as in a prompt
// (docs/design.md#rendered-text).
func Title(title string, vars canon.Value) Heading {
	if strings.IndexByte(title, '{') < 0 && len(title) <= limits.StepTitleBytesMax {
		return Heading{Text: title}
	}
	f := newTitleFiller(vars, limits.StepTitleBytesMax)
	text := f.fill(title)
	if !f.over && len(text) <= limits.StepTitleBytesMax {
		return Heading{Text: text, Warnings: f.warnings()}
	}
	// What the title takes without the values that the first pass inserted.
	authored := len(text) - (limits.StepTitleBytesMax - f.left)
	short := newTitleFiller(vars, max(0, limits.StepTitleBytesMax-authored))
	short.most = share(f.sizes, short.left)
	return Heading{Text: reason.Truncate(short.fill(title), limits.StepTitleBytesMax), Warnings: f.warnings(),
		Truncated: true}
}

// newTitleFiller returns a filler of a title whose values have budget bytes together.
func newTitleFiller(vars canon.Value, budget int) *filler {
	f := newFiller(vars, budget)
	f.what, f.line = "title", true
	return f
}
