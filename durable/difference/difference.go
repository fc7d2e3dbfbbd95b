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

// Values returns the difference of two JSON texts as Lines does. A text of several lines in them is
// compared line by line: each line but the last of such a text ends with its \n.
func Values(before, after []byte) []string {
	return Lines(broken(spread(before)), broken(spread(after)))
}

// broken returns JSON with a line break and the indentation of the line behind each \n in a string.
func broken(text []byte) []byte {
	out := make([]byte, 0, len(text))
	indent, start := "", true
	var line []byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		out = append(out, c)
		switch {
		case c == '\n':
			start, line = true, nil
		case start && c == ' ':
			line = append(line, c)
		case c == '\\' && i+1 < len(text):
			i++
			if out = append(out, text[i]); text[i] == 'n' && i+1 < len(text) && text[i+1] != '"' {
				out = append(append(out, '\n'), indent...)
			}
		}
		if c != ' ' && c != '\n' && start {
			start, indent = false, string(line)+"  "
		}
	}
	return out
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
