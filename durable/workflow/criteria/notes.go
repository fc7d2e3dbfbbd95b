package criteria

import (
	"errors"
	"strings"

	"github.com/waybill/waybill/durable/canon"
)

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
