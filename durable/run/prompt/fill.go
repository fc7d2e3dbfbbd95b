package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/workflow/placeholder"
)

// filler replaces placeholders in authored text with values of the context
// (docs/design.md#prompt-templates). It scans each text once, left to right, so that a value
// from the context is never expanded again. The values that it inserts have a budget: beyond
// it they are counted and left out (docs/design.md#rendered-text).
type filler struct {
	vars canon.Value
	what string // the text that is filled, for warnings
	line bool   // the text is one line: line breaks and blanks of values become single blanks
	// left is what remains of the budget of all values, in bytes. most bounds each value;
	// longer ones end in the marker of limits.TruncationMarker.
	left, most int

	sizes  []int // of the values that were asked for, in their order
	over   bool  // a value was left out or truncated
	absent []string
	asked  map[string]bool   // paths that the context does not hold
	texts  map[string]string // canonical JSON of values by their paths
}

// newFiller returns a filler of a prompt whose values have budget bytes together.
func newFiller(vars canon.Value, budget int) *filler {
	return &filler{vars: vars, what: "prompt", left: budget, most: budget, asked: map[string]bool{}, texts: map[string]string{}}
}

// fill inserts strings unchanged and other values as canonical JSON, which every rendering of
// the same context reproduces. Unknown paths stay in the text and add a warning.
func (f *filler) fill(text string) string {
	return placeholder.Replace(text, func(p placeholder.Part) string {
		value, ok := f.value(p.Path)
		if !ok {
			f.missing(p.Path)
			return p.Text
		}
		return f.insert(value)
	})
}

// value returns the text of a value. The canonical JSON of a value is made once, however
// often a text names its path.
func (f *filler) value(path string) (string, bool) {
	v, ok := placeholder.Lookup(f.vars, path)
	switch {
	case ok && v.Kind() == canon.String && f.line:
		return strings.Join(strings.Fields(v.Text()), " "), true
	case !ok || v.Kind() == canon.String:
		return v.Text(), ok
	}
	text, known := f.texts[path]
	if !known {
		text = placeholder.Text(v)
		f.texts[path] = text
	}
	return text, true
}

// insert returns a value as the budget permits it, and counts its size.
func (f *filler) insert(value string) string {
	f.sizes = append(f.sizes, len(value))
	f.over = f.over || len(value) > min(f.most, f.left)
	if min(len(value), f.most) > f.left {
		return "" // counted only: nothing is copied
	}
	value = truncated(value, f.most)
	f.left -= len(value)
	return value
}

// truncated returns a value of at most most bytes; a longer one ends in the marker, and is ""
// where the marker does not fit.
func truncated(value string, most int) string {
	if len(value) > most && most < len(limits.TruncationMarker) {
		return ""
	}
	return reason.Truncate(value, most)
}

// share returns the bound of each value with which values of these sizes have budget bytes
// together: short values stay whole, and the longest are truncated to the same length.
func share(sizes []int, budget int) int {
	ordered := slices.Sorted(slices.Values(sizes))
	left := budget
	for i, size := range ordered {
		rest := len(ordered) - i
		if size > left/rest {
			return left / rest
		}
		left -= size
	}
	return budget // all of them fit
}

// fillAll fills each text of a list.
func (f *filler) fillAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, s := range texts {
		out[i] = f.fill(s)
	}
	return out
}

// missing adds one warning for each unknown path, however often it occurs, up to
// limits.AbsentShownMax.
func (f *filler) missing(path string) {
	if f.asked[path] {
		return
	}
	f.asked[path] = true
	if len(f.asked) > limits.AbsentShownMax {
		return
	}
	// The path is the caller's key for the missing value, so the warning names it as written.
	f.absent = append(f.absent,
		fmt.Sprintf("The %s asks for {{%s}}, which the context does not hold; it is shown as written.", f.what,
			reason.Clip(path, limits.ContextKeyMax)))
}

// warnings returns the warnings about unknown paths; the last one counts those that are not
// listed.
func (f *filler) warnings() []string {
	if more := len(f.asked) - limits.AbsentShownMax; more > 0 {
		return append(f.absent,
			fmt.Sprintf("The %s asks for %d more values, which the context does not hold.", f.what, more))
	}
	return f.absent
}
