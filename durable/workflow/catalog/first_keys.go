package catalog

import (
	"bytes"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/source"
)

// MayBeWorkflow reports whether the beginning of a file may be that of a workflow: false if it has keys of a document and
// none of them is a key of a workflow, or is that of a list. The name selects the language. A beginning that it cannot
// judge may be one.
func MayBeWorkflow(name string, beginning []byte) bool {
	beginning = canon.WithoutBOM(beginning)
	keys := firstKeysYAML
	if source.IsJSON(name, beginning) {
		keys = firstKeysJSON
	}
	all, certain := keys(beginning)
	return !certain || slices.ContainsFunc(all, source.IsWorkflowKey)
}

// firstKeysJSON returns the keys of the object that a text begins with. certain is false if there is none, or a key is
// written with escapes.
func firstKeysJSON(text []byte) (keys []string, certain bool) {
	depth, start := 0, -1 // start is that of the string that the scan is in
	last := ""            // the last string at depth 1
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case start >= 0 && c == '\\':
			i++
		case start >= 0 && c == '"':
			last, start = string(text[start:i]), -1
		case start >= 0:
		case c == '"':
			start = i + 1
		case c == '{' || c == '[':
			if depth == 0 && c == '[' {
				return nil, true // a list
			}
			depth++
		case c == '}' || c == ']':
			depth--
		case c == ':' && depth == 1:
			if strings.Contains(last, `\`) {
				return keys, false
			}
			keys = append(keys, last)
		}
	}
	return keys, len(keys) > 0
}

// firstKeysYAML returns the keys that are not indented. certain is false if there is none, or a line that is not
// indented has another form than "key: value".
func firstKeysYAML(text []byte) (keys []string, certain bool) {
	end := bytes.LastIndexByte(text, '\n') + 1 // the last line may be cut
	for line := range strings.Lines(string(text[:end])) {
		line = strings.TrimRight(line, " \t\r\n")
		switch {
		case line == "" || line[0] == ' ' || line[0] == '#' || line == "---" || line[0] == '%' || line == "..." || line[0] == '\t':
			continue
		case line == "-" || strings.HasPrefix(line, "- "):
			if len(keys) == 0 {
				return nil, true // a list
			}
			continue // of the key before
		case line[0] == ']' || line[0] == '}':
			continue
		}
		key, _, ok := strings.Cut(line, ":")
		if !ok || strings.ContainsAny(key, `?&*!|>{}[]\`) {
			return keys, false
		}
		keys = append(keys, strings.Trim(strings.TrimSpace(key), `"'`))
	}
	return keys, len(keys) > 0
}
