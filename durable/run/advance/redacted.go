package advance

import (
	"strconv"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/redact"
)

// StoredText returns a text of at most most bytes as it is stored: redacted, and shortened where the markers
// are longer than the secrets. found gets the secrets at the pointer (docs/design.md#answers-about-redaction).
func StoredText(found *redact.Findings, pointer, text string, most int) string {
	return reason.Truncate(found.Text(pointer, text), most)
}

// Redacted returns a start without the secrets in its title, goal and tags. Its context is kept as it is sent.
func (s Start) Redacted() (Start, []redact.Finding) {
	var found redact.Findings
	s.Title = StoredText(&found, "/title", s.Title, limits.TitleBytesMax)
	s.Goal = StoredText(&found, "/goal", s.Goal, limits.GoalBytesMax)
	var tags []string
	for i, tag := range s.Tags {
		tags = append(tags, StoredText(&found, "/tags/"+strconv.Itoa(i), tag, limits.TagBytesMax))
	}
	s.Tags = tags
	return s, found.List()
}
