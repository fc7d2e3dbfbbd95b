// Package placeholder is the grammar of {{path}} in authored texts
// (docs/design.md#values-in-commands): which parts of a text are placeholders, the value to
// which a path leads, and the text of a value. Prompts, titles and commands share it, so that
// one spelling has one meaning. Start with Split.
package placeholder

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/workflow/condition"
)

// form is a dotted path in double braces. All other text in braces is literal: templates have
// no expressions.
var form = pattern.New(`\{\{ *[A-Za-z_][A-Za-z0-9_.-]* *\}\}`)

// reserved is the prefix of tokens of the compiler, which no context fills.
const reserved = "wr."

// Part is a piece of a text: literal, or one placeholder.
type Part struct {
	Text string // as written
	Path string // of the placeholder, "" for literal text
}

// Split divides a text into its parts, in order; together their Text is the text. Neighbouring
// literal parts are one.
func Split(text string) []Part {
	var out []Part
	done := 0 // where the literal text begins
	for _, at := range form.FindAllStringIndex(text, -1) {
		path := pathOf(text[at[0]:at[1]])
		if strings.HasPrefix(path, reserved) {
			continue
		}
		if at[0] > done {
			out = append(out, Part{Text: text[done:at[0]]})
		}
		out = append(out, Part{Text: text[at[0]:at[1]], Path: path})
		done = at[1]
	}
	if done < len(text) {
		out = append(out, Part{Text: text[done:]})
	}
	return out
}

// Paths returns the paths that a text asks for, in the order of the text, each once.
func Paths(text string) []string {
	var out []string
	seen := map[string]bool{}
	for _, p := range Split(text) {
		if p.Path != "" && !seen[p.Path] {
			seen[p.Path] = true
			out = append(out, p.Path)
		}
	}
	return out
}

// Tokens returns the reserved tokens of a text, in the order of the text, each once. They are
// literal text to Split.
func Tokens(text string) []string {
	var out []string
	for _, token := range form.FindAllString(text, -1) {
		if path := pathOf(token); strings.HasPrefix(path, reserved) && !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	return out
}

// pathOf returns the path of a placeholder as it is written.
func pathOf(token string) string { return strings.Trim(token, "{} ") }

// In reports whether a text has a placeholder.
func In(text string) bool {
	return slices.ContainsFunc(Split(text), func(p Part) bool { return p.Path != "" })
}

// Replace replaces each placeholder of a text by what fill returns for it. The text is read
// once, left to right: what fill returns is not read again.
func Replace(text string, fill func(Part) string) string {
	var b strings.Builder
	for _, p := range Split(text) {
		if p.Path == "" {
			b.WriteString(p.Text)
		} else {
			b.WriteString(fill(p))
		}
	}
	return b.String()
}

// lengthSuffix ends the path of the length of a list.
const lengthSuffix = ".length"

// Lookup is condition.Lookup, and gives the number of items for a list's path that ends in
// ".length". A value at the whole path takes precedence. Texts and objects have no length, as in
// the format of existing files. Conditions do not read lengths: a stored decision must not depend on what
// texts show.
func Lookup(vars canon.Value, path string) (canon.Value, bool) {
	v, ok := condition.Lookup(vars, path)
	list, counted := strings.CutSuffix(path, lengthSuffix)
	if ok || !counted {
		return v, ok
	}
	if v, ok = condition.Lookup(vars, list); ok && v.Kind() == canon.Array {
		return canon.OfInt(int64(v.Len())), true
	}
	return canon.Value{}, false
}

// Text returns what a value is filled in as: a string as it is, any other value as canonical
// JSON, which every rendering of the same context reproduces.
func Text(v canon.Value) string {
	if v.Kind() == canon.String {
		return v.Text()
	}
	return string(v.JCS())
}
