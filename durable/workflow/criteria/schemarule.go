package criteria

import (
	"errors"
	"strings"

	"github.com/waybill/waybill/durable/canon"
)

// schemaRule wants a JSON value in the notes: all of them, or the first block that
// is marked as JSON. Artifacts are the better place for data; the rule is there for
// workflows that were written before they were (locks section 19).
type schemaRule struct {
	said
	source canon.Value
	schema jsonSchema
}

func (r schemaRule) accepts(text string) bool { return r.lacks(text) == "" }

// lacks says what keeps the notes from passing.
func (r schemaRule) lacks(text string) string {
	v, err := jsonIn(text)
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

// jsonIn finds the JSON value of notes. Notes that are JSON as a whole need no
// marks; in all others the marks say which part is meant.
func jsonIn(notes string) (canon.Value, error) {
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

// firstBlock is the content of the first fenced block whose language is json.
func firstBlock(notes string) (string, bool) {
	var lines []string
	inside := false
	for line := range strings.SplitSeq(notes, "\n") {
		mark := strings.TrimSpace(line)
		switch {
		case !inside:
			inside = strings.EqualFold(mark, "```json")
		case mark == "```":
			return strings.Join(lines, "\n"), true
		default:
			lines = append(lines, line)
		}
	}
	return "", false
}
