package engine

import (
	"strconv"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/redact"
)

// storedText returns a text of at most most bytes as it is stored: redacted, and shortened where the markers
// are longer than the secrets. found gets the secrets at the pointer (docs/design.md#answers-about-redaction).
func storedText(found *redact.Findings, pointer, text string, most int) string {
	return reason.Truncate(found.Text(pointer, text), most)
}

// redacted returns a start without the secrets in its title, goal and tags. Its context is kept as it is sent.
func (s Start) redacted() (Start, []redact.Finding) {
	var found redact.Findings
	s.Title = storedText(&found, "/title", s.Title, limits.TitleBytesMax)
	s.Goal = storedText(&found, "/goal", s.Goal, limits.GoalBytesMax)
	var tags []string
	for i, tag := range s.Tags {
		tags = append(tags, storedText(&found, "/tags/"+strconv.Itoa(i), tag, limits.TagBytesMax))
	}
	s.Tags = tags
	return s, found.List()
}
