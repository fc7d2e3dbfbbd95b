package source

import (
	"bytes"
	_ "embed" // for starter
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/workflow/yaml"
)

// starter is the template of a new workflow file, itself a workflow. It demonstrates checked
// notes, an input, a step with a condition and a confirmation. JSON has no comments, so the
// prompts explain each part.
//
//go:embed starter.json
var starter string

// Starter returns a new workflow file with this id and name, as JSON. It validates without
// problems if the id is namespaced and the name has 1 to 128 characters.
func Starter(id, name string) []byte {
	own := strings.NewReplacer(`"project.starter"`, string(canon.AppendString(nil, id)),
		`"Starter"`, string(canon.AppendString(nil, name)))
	return []byte(own.Replace(starter))
}

// NewIDProblem returns why a new workflow file cannot have this id, or "" if it can.
// Legacy ids are accepted in existing files only (docs/design.md#workflow-ids).
func NewIDProblem(kind SourceKind, id string) string {
	switch {
	case IDStatus(id) != "namespaced":
		return fmt.Sprintf("expected a workflow id of the form namespace.name in lowercase letters, digits, _ and -, "+
			"got %q", id)
	case len(id) > idLengthMax:
		return fmt.Sprintf("a workflow id has at most %d characters, got %d", idLengthMax, len(id))
	case strings.HasPrefix(id, "wr.") && kind != SourceBundled:
		return fmt.Sprintf("workflow ids that start with wr. are reserved for bundled workflows, got %q", id)
	}
	return ""
}

// Copy returns the workflow file with another id. All other bytes are preserved where the
// id can be replaced in the text, which Copy verifies by parsing the result; otherwise the
// copy is JSON with two spaces of indentation. It fails on a file that cannot be parsed or
// is not an object. It does not check newID; see NewIDProblem.
func Copy(source []byte, newID string) ([]byte, error) {
	if len(source) > limits.SourceBytesMax {
		return nil, fmt.Errorf("it has %d bytes, at most %d are accepted", len(source), limits.SourceBytesMax)
	}
	parse, replaceID := canon.Parse, replaceIDJSON
	root, err := canon.Parse(source)
	if start := bytes.TrimLeft(source, " \t\r\n"); err != nil && (len(start) == 0 || start[0] != '{') {
		parse, replaceID = yaml.Parse, replaceIDYAML
		root, err = yaml.Parse(source)
	}
	if err != nil {
		return nil, err
	}
	if root.Kind() != canon.Object {
		return nil, errors.New("a workflow file is an object, got " + root.Kind().String())
	}
	// The edited text is used only if it parses to exactly the same document with the new id.
	want := root.With("id", canon.OfString(newID))
	if out, ok := replaceID(source, root, newID); ok {
		if again, err := parse(out); err == nil && again.Equal(want) {
			return out, nil
		}
	}
	var out bytes.Buffer
	if err := json.Indent(&out, want.JCS(), "", "  "); err != nil {
		return nil, err
	}
	return append(out.Bytes(), '\n'), nil
}

// replaceIDJSON replaces the value of the root's id in a text that is known to be JSON. It
// finds the value by counting brackets; the second result is false if it does not.
func replaceIDJSON(source []byte, _ canon.Value, newID string) ([]byte, bool) {
	// depth counts open brackets; name is the last member name read at depth 1.
	depth, name := 0, ""
	for i := 0; i < len(source); {
		switch source[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
			name = ""
		case '"':
			end := stringEnd(source, i)
			text, err := canon.Parse(source[i:end])
			if err != nil {
				return nil, false
			}
			if depth == 1 && name == "id" {
				return splice(source, i, end, canon.AppendString(nil, newID)), true
			}
			if depth == 1 && name == "" {
				name = text.Text()
			}
			i = end
			continue
		}
		i++
	}
	return nil, false
}

// stringEnd returns the index after the quote that closes the string starting at i.
func stringEnd(source []byte, i int) int {
	for i++; i < len(source) && source[i] != '"'; i++ {
		if source[i] == '\\' {
			i++
		}
	}
	return min(i+1, len(source))
}

// splice returns a copy of source in which with replaces source[from:to].
func splice(source []byte, from, to int, with []byte) []byte {
	out := append([]byte(nil), source[:from]...)
	return append(append(out, with...), source[to:]...)
}

// idLine matches a line that contains only the member id: the text before the value, and
// an optional comment after it. A valid id contains neither quotes nor #.
var idLine = pattern.New(`^((?:id|"id"|'id')\s*:\s+)(?:"[^"]*"|'[^']*'|[^\s#"']+)(\s*(?:\s#.*)?)$`)

// replaceIDYAML replaces the value on the line of the id; false if the line has another
// form than idLine. A namespaced id needs no quotes; other ids are quoted, since YAML could
// parse them as a number or a date.
func replaceIDYAML(source []byte, root canon.Value, newID string) ([]byte, bool) {
	id, ok := root.Get("id")
	lines := strings.SplitAfter(string(source), "\n")
	if !ok || id.Line() < 1 || id.Line() > len(lines) {
		return nil, false
	}
	line := strings.TrimRight(lines[id.Line()-1], "\r\n")
	ending := lines[id.Line()-1][len(line):]
	m := idLine.FindStringSubmatch(line)
	if m == nil {
		return nil, false
	}
	value := newID
	if IDStatus(newID) != "namespaced" {
		value = string(canon.AppendString(nil, newID))
	}
	lines[id.Line()-1] = m[1] + value + m[2] + ending
	return []byte(strings.Join(lines, "")), true
}
