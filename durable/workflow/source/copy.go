package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/workflow/yaml"
)

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

// Copy returns the workflow file with another id. All other bytes are preserved where the id can be replaced in the
// text, which Copy verifies by parsing the result; otherwise the copy is JSON with two spaces of indentation. It
// fails on a file that cannot be parsed or is not an object. It does not check newID; see NewIDProblem.
func Copy(source []byte, newID string) ([]byte, error) {
	if len(source) > limits.SourceBytesMax {
		return nil, fmt.Errorf("it has %d bytes, at most %d are accepted", len(source), limits.SourceBytesMax)
	}
	source = canon.WithoutBOM(source)
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

// replaceIDJSON replaces the value of the root's id in a text that is known to be a JSON
// object; the second result is false if the id is not a string.
func replaceIDJSON(source []byte, root canon.Value, newID string) ([]byte, bool) {
	if id, _ := root.Get("id"); id.Kind() != canon.String {
		return nil, false
	}
	members := json.NewDecoder(bytes.NewReader(source))
	_, _ = members.Token() // the opening brace
	for {
		name, err := members.Token()
		var value json.RawMessage
		if err == nil {
			err = members.Decode(&value)
		}
		if err != nil {
			return nil, false
		}
		if name == "id" {
			end := int(members.InputOffset())
			return slices.Replace(slices.Clone(source), end-len(value), end, canon.AppendString(nil, newID)...), true
		}
	}
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
