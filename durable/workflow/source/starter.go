package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/workflow/yaml"
)

// starter is what a new workflow starts from: notes that are checked, an input, a step that
// is passed over on a condition, and a confirmation. JSON has no comments, so the
// texts say what each part does.
const starter = `{
  "id": %s,
  "name": %s,
  "description": "Three steps that show notes, a condition and a confirmation. Replace them with your own.",
  "version": "0.1.0",
  "steps": [
    {
      "id": "look",
      "title": "Look at what is there",
      "prompt": "Describe what you find, and list what has to be done as lines that start with 'Task:'.\n\nSay whether the tasks need a plan: the next step is passed over if they do not.",
      "inputs": [
        {
          "contextKey": "needsPlan",
          "reason": "needs_user_choice",
          "choiceKind": "scope_boundary",
          "choices": ["yes", "no"],
          "description": "Do the tasks need a plan?"
        }
      ],
      "notesRequired": true,
      "validationCriteria": [
        { "type": "regex", "pattern": "(?m)^Task: \\S", "message": "List at least one task" },
        { "type": "length", "min": 80, "message": "Describe what you found" }
      ]
    },
    {
      "id": "plan",
      "title": "Plan",
      "prompt": "Put the tasks into an order, and say why.",
      "runCondition": { "var": "needsPlan", "equals": "yes" }
    },
    {
      "id": "finish",
      "title": "Do it",
      "prompt": "Do the tasks, and note what was done and what was left.",
      "requireConfirmation": true,
      "notesRequired": true
    }
  ]
}
`

// Starter is the file of a new workflow with this id and name: JSON that validates
// without a problem, given a namespaced id and a name of 1 to 128 characters.
func Starter(id, name string) []byte {
	return fmt.Appendf(nil, starter, canon.AppendString(nil, id), canon.AppendString(nil, name))
}

// NewIDProblem says why a file that is about to be written may not have this id, ""
// if it may: legacy ids are read but not created (locks section 7).
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

// Copy is the same workflow file with another id. All else keeps its bytes where the
// id can be exchanged in the text, which is checked by reading the result; where it
// cannot, the copy is JSON with two blanks of indentation. It fails on a file that
// cannot be read or is no object. Whether newID may be used is NewIDProblem's to say.
func Copy(source []byte, newID string) ([]byte, error) {
	if len(source) > limits.SourceBytesMax {
		return nil, fmt.Errorf("it has %d bytes, at most %d are accepted", len(source), limits.SourceBytesMax)
	}
	parse, exchange := canon.Parse, exchangeJSON
	root, err := canon.Parse(source)
	if start := bytes.TrimLeft(source, " \t\r\n"); err != nil && (len(start) == 0 || start[0] != '{') {
		parse, exchange = yaml.Parse, exchangeYAML
		root, err = yaml.Parse(source)
	}
	if err != nil {
		return nil, err
	}
	if root.Kind() != canon.Object {
		return nil, errors.New("a workflow file is an object, got " + root.Kind().String())
	}
	want := root.With("id", canon.OfString(newID))
	if out, ok := exchange(source, root, newID); ok {
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

// exchangeJSON finds the value of the root's id by the brackets around it. The text
// is known to be JSON.
func exchangeJSON(source []byte, _ canon.Value, newID string) ([]byte, bool) {
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

// stringEnd is behind the quote that closes the string at i.
func stringEnd(source []byte, i int) int {
	for i++; i < len(source) && source[i] != '"'; i++ {
		if source[i] == '\\' {
			i++
		}
	}
	return min(i+1, len(source))
}

// splice puts something in the place of source[from:to].
func splice(source []byte, from, to int, with []byte) []byte {
	out := append([]byte(nil), source[:from]...)
	return append(append(out, with...), source[to:]...)
}

// idLine is a member id that has a line of its own: what stands before the value,
// and a comment behind it. An id that was found valid has neither quotes nor # in it.
var idLine = pattern.New(`^((?:id|"id"|'id')\s*:\s+)(?:"[^"]*"|'[^']*'|[^\s#"']+)(\s*(?:\s#.*)?)$`)

// exchangeYAML writes the line of the id again. A namespaced id needs no quotes; what
// else may be an id could mean a number or a date to YAML.
func exchangeYAML(source []byte, root canon.Value, newID string) ([]byte, bool) {
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
