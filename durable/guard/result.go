package guard

import (
	"cmp"
	"strings"

	"github.com/waybill/waybill/durable/redact"
)

// Result is what a change of settings results in.
type Result struct {
	// Text is the file as it becomes; nil for no file.
	Text []byte
	// Changes are the places that change; none for the same bytes.
	Changes []Change
}

// Change is a place of settings that changes. It has nothing of what stays as it is, since settings hold secrets.
type Change struct {
	// Place names the member or the table that contains it, "" for the file.
	Place          string
	Removed, Added []string // lines
}

// Difference returns the changes as lines: a place between @@, then what is removed, with -, and added, with +.
func (r Result) Difference() []string {
	lines := []string{}
	for _, c := range r.Changes {
		lines = append(lines, "@@ "+cmp.Or(c.Place, "file")+" @@")
		for _, l := range c.Removed {
			lines = append(lines, "-"+l)
		}
		for _, l := range c.Added {
			lines = append(lines, "+"+l)
		}
	}
	return lines
}

// apply makes an edit.
func (r *Result) apply(e edit) {
	label := func(part string) []string {
		lines := fragment(part)
		if e.name != "" && len(lines) > 0 {
			lines[0] = quote(e.name) + ": " + lines[0]
		}
		return lines
	}
	removed := label(redact.Text(string(r.Text[e.from:e.to]), nil))
	r.Changes = append(r.Changes, Change{e.place, removed, label(e.by)})
	r.Text = e.apply(r.Text)
}

// made returns the result as that of a file that did not exist, if there was none: all of it is added.
func (r Result) made(before []byte) Result {
	if len(before) == 0 && len(r.Changes) > 0 {
		r.Changes = []Change{{Added: textLines(string(r.Text))}}
	}
	return r
}

// fragment returns a part of a text as lines, without the separators around it and with the indentation of its last
// line as the first column.
func fragment(part string) []string {
	part = strings.Trim(part, ", \t\r\n")
	if part == "" {
		return nil
	}
	lines := textLines(part)
	last := lines[len(lines)-1]
	indent := last[:len(last)-len(strings.TrimLeft(last, " \t"))]
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], indent)
	}
	return lines
}

// textLines returns the lines of a text.
func textLines(text string) []string {
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n")
}
