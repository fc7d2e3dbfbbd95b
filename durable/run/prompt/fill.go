package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/workflow/condition"
)

// placeholder is a dotted path in double braces. Anything else in braces is text:
// there are no expressions.
var placeholder = pattern.New(`\{\{ *([A-Za-z_][A-Za-z0-9_.-]*) *\}\}`)

// filler puts context into authored text (R22). Each text is read once from left to
// right: what comes out of the context is never read again, so a value cannot pull
// in another one.
type filler struct {
	vars     canon.Value
	warnings []string
}

// fill puts strings in verbatim and everything else as JCS, the one spelling that
// a replay reproduces.
func (f *filler) fill(text string) string {
	return placeholder.ReplaceAllStringFunc(text, func(token string) string {
		path := placeholder.FindStringSubmatch(token)[1]
		if strings.HasPrefix(path, "wr.") {
			return token // the compiler's, who left it where a text only speaks of it
		}
		v, ok := condition.Lookup(f.vars, path)
		switch {
		case !ok:
			f.warn(path)
			return token
		case v.Kind() == canon.String:
			return v.Text()
		}
		return string(v.JCS())
	})
}

// fillAll is fill for lists.
func (f *filler) fillAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, s := range texts {
		out[i] = f.fill(s)
	}
	return out
}

// warn names each path once, however often the text does.
func (f *filler) warn(path string) {
	w := fmt.Sprintf("The prompt asks for {{%s}}, which the context does not hold; it is shown as written.", path)
	if !slices.Contains(f.warnings, w) {
		f.warnings = append(f.warnings, w)
	}
}
