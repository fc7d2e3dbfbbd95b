// Package difference shows how a text changed, for a person who decides about the change
// (docs/design.md#decisions).
package difference

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"
)

// Lines returns the difference of two texts as lines of the unified form, without the lines that name
// the files; nil if they are equal. JSON texts are compared member by member, on lines of their own. A content
// that is not text is not compared: the result is one line that says so.
func Lines(before, after []byte) []string {
	switch {
	case bytes.Equal(before, after):
		return nil
	case !utf8.Valid(before) || !utf8.Valid(after) || bytes.ContainsRune(before, 0) || bytes.ContainsRune(after, 0):
		return []string{"(changed; it is not text)"}
	}
	out := diff.Diff("before", ended(spread(before)), "after", ended(spread(after)))
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	const header = 3 // the command line and the names of both files
	if len(lines) <= header {
		return []string{"(changed in blanks only)"}
	}
	return lines[header:]
}

// spread returns JSON with one member on a line, and any other text as it is.
func spread(text []byte) []byte {
	var b bytes.Buffer
	if len(text) == 0 || text[0] != '{' && text[0] != '[' || json.Indent(&b, text, "", "  ") != nil {
		return text
	}
	return b.Bytes()
}

// ended returns a text that ends with a line break: whether the last line has one is not shown.
func ended(text []byte) []byte {
	if len(text) == 0 || bytes.HasSuffix(text, []byte("\n")) {
		return text
	}
	return append(bytes.Clone(text), '\n')
}
