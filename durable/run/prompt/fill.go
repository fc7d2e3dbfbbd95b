package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/workflow/condition"
)

// placeholder is a dotted path in double braces. All other text in braces is literal:
// templates have no expressions.
var placeholder = pattern.New(`\{\{ *([A-Za-z_][A-Za-z0-9_.-]*) *\}\}`)

// filler replaces placeholders in authored text with values of the context
// (docs/design.md#prompt-templates). It scans each text once, left to right, so that a value
// from the context is never expanded again.
type filler struct {
	vars     canon.Value
	warnings []string
}

// fill inserts strings unchanged and other values as canonical JSON, which every rendering of
// the same context reproduces. Unknown paths stay in the text and add a warning.
func (f *filler) fill(text string) string {
	return placeholder.ReplaceAllStringFunc(text, func(token string) string {
		path := placeholder.FindStringSubmatch(token)[1]
		if strings.HasPrefix(path, "wr.") {
			return token // reserved for the compiler; left over only where a text mentions it
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

// fillAll fills each text of a list.
func (f *filler) fillAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, s := range texts {
		out[i] = f.fill(s)
	}
	return out
}

// warn adds one warning for each unknown path, however often it occurs.
func (f *filler) warn(path string) {
	// The path is the caller's key for the missing value, so the warning names it as written.
	w := fmt.Sprintf("The prompt asks for {{%s}}, which the context does not hold; it is shown as written.", path)
	if !slices.Contains(f.warnings, w) {
		f.warnings = append(f.warnings, w)
	}
}
