package criteria

import (
	"errors"
	"strings"

	"github.com/waybill/waybill/durable/canon"
)

// schemaRule requires a JSON value in the notes that matches a JSON Schema: the notes as a
// whole, or their first block marked as JSON. New workflows should use artifacts for data;
// the rule exists for workflows that are older than artifacts (docs/design.md#authoring).
type schemaRule struct {
	authorMessage
	// source is the schema as the author wrote it, for sentences and the workflow hash.
	source canon.Value
	// schema is the parsed form of source.
	schema jsonSchema
}

func (r schemaRule) accepts(text string) bool { return r.mismatch(text) == "" }

// mismatch returns why the notes do not pass, "" if they do.
func (r schemaRule) mismatch(text string) string {
	v, err := findJSON(text)
	if err != nil {
		return err.Error()
	}
	return r.schema.mismatch(v, "")
}

func (r schemaRule) requires() string {
	return "Must be JSON, or hold it in a ```json block, that matches the schema: " + r.operand()
}

func (r schemaRule) forbidden() string {
	return "Must not hold JSON that matches the schema: " + r.operand()
}

func (r schemaRule) operand() string { return string(r.source.JCS()) }
func (r schemaRule) value() canon.Value {
	return r.fields("schema", canon.Member{Name: "schema", Value: r.source})
}

// findJSON returns the JSON value of notes: the notes themselves if they are JSON, else the
// content of the first ```json block.
func findJSON(notes string) (canon.Value, error) {
	if v, err := canon.Parse([]byte(strings.TrimSpace(notes))); err == nil {
		return v, nil
	}
	block, ok := firstBlock(notes)
	if !ok {
		return canon.Value{}, errors.New("no JSON was found: write it alone, or between ```json and ```")
	}
	v, err := canon.Parse([]byte(block))
	if err != nil {
		return canon.Value{}, errors.New("the ```json block is not JSON: " + err.Error())
	}
	return v, nil
}

// firstBlock returns the content of the first closed fenced block whose language is json.
func firstBlock(notes string) (string, bool) {
	var lines []string
	inside := false
	// A block that is not closed is ignored: the notes may have been truncated inside it.
	for line := range strings.SplitSeq(notes, "\n") {
		mark := strings.TrimSpace(line)
		switch {
		case !inside:
			inside = strings.EqualFold(mark, "```json")
		case mark == "```": // end of the block
			return strings.Join(lines, "\n"), true
		default:
			lines = append(lines, line)
		}
	}
	return "", false
}
