package render

import (
	"fmt"
	"math"
	"strings"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/infra/terminal"
)

// untrusted puts text of an annotation between marks. Where no person reads, an
// agent may, and must not take such text for instructions of the program. What
// looks like a mark within the text is escaped.
func untrusted(s string) string {
	return "<UNTRUSTED>" + markLike.ReplaceAllString(page.Clean(s), "&lt;$1") + "</UNTRUSTED>"
}

// markLike matches what a careless reader could take for one of the marks
// within the text: in any case, with blanks, signs or invisible characters in
// it.
var markLike = pattern.New(`(?i)<([^\p{L}\p{N}<>]*` + strings.Join(strings.Split("UNTRUSTED", ""), `\p{Cf}*`) + `)`)

// Quoted is text of an annotation as this page may show it: cleaned on a
// terminal, between marks elsewhere.
func Quoted(p *page.Page, s string) string {
	if p.Width == 0 {
		return untrusted(s)
	}
	return page.Clean(s)
}

// Stars draws a rating as five stars. A mean is drawn as the nearest whole
// rating.
func Stars(rating float64) string {
	full := min(max(int(math.Round(rating)), 0), feedback.RatingMax)
	return strings.Repeat("★", full) + strings.Repeat("☆", feedback.RatingMax-full)
}

// SignalWords names what an annotation says, without its long text: stars or a
// sign on a terminal, words and numbers in a pipe.
func SignalWords(p *page.Page, s feedback.Signal) string {
	picture := func(sign, word string) string {
		if p.Width == 0 {
			return word
		}
		return sign + " " + word
	}
	switch s.Kind {
	case feedback.RatingKind:
		if p.Width == 0 {
			return fmt.Sprintf("rating %d/%d", s.Rating, feedback.RatingMax)
		}
		return Stars(float64(s.Rating))
	case feedback.CorrectionKind:
		return picture("✎", "correction")
	case feedback.LabelKind:
		label := Quoted(p, strings.Join(strings.Fields(s.Label), " "))
		if p.Width == 0 {
			return "label " + label
		}
		return "# " + label
	case feedback.FlagKind:
		return picture("⚑", "flag")
	}
	return string(s.Kind)
}

// SignalPaint is the style for a signal: ratings and flags ask for attention.
func SignalPaint(p *page.Page, s feedback.Signal) func(string) string {
	switch s.Kind {
	case feedback.RatingKind, feedback.FlagKind:
		return p.Warn
	}
	return p.Bold
}

// AboutWords names the part of a run that an annotation is about. step is the
// title of the step at its node, "" where there is none.
func AboutWords(t feedback.RunTarget, step string) string {
	at := ""
	switch {
	case step != "":
		at = "“" + page.Clean(step) + "”"
	case !t.NodeID.IsZero():
		at = "node " + page.ShortNode(t.NodeID)
	}
	switch {
	case !t.EventID.IsZero() && at != "":
		return "an event of " + at
	case !t.EventID.IsZero():
		return "event " + page.ShortID(t.EventID)
	case at != "" && !t.NodeID.IsZero():
		return at
	}
	return "the run"
}

// StepAt is the title of the step that is or was pending at a node on the run's
// path, "" for any other node.
func StepAt(r engine.RunDetails, node id.Node) string {
	for _, s := range r.Steps {
		if s.NodeID != nil && *s.NodeID == node {
			return s.Title
		}
	}
	return ""
}

// AnnotationName is how a list names an annotation: by the beginning of its id
// on a terminal, by the whole id in a pipe, from where it can be copied.
func AnnotationName(p *page.Page, name id.Annotation) string {
	if p.Width == 0 {
		return name.String()
	}
	return page.ShortID(name)
}

// SureWords is how sure an agent was, with two blanks before it; "" where no
// confidence is recorded, as for people.
func SureWords(confidence *float64) string {
	if confidence == nil {
		return ""
	}
	return fmt.Sprintf("  %.0f%% sure", 100**confidence)
}

// Remarks writes the long texts of an annotation below it: first the
// correction, then the note. A bar at its side tells the correction from the
// note on a terminal, a word in a pipe.
func Remarks(p *page.Page, lead string, signal feedback.Signal, note string, paint func(string) string) {
	if p.Width == 0 {
		if signal.Correction != "" {
			p.Text(lead+"correction: ", untrusted(signal.Correction))
		}
		if note != "" {
			p.Text(lead+"note: ", untrusted(note))
		}
		return
	}
	if signal.Correction != "" {
		barred(p, lead, signal.Correction, paint)
	}
	if note != "" {
		p.Painted(lead, note, paint)
	}
}

// barred writes wrapped text with a bar at the left of each line.
func barred(p *page.Page, lead, s string, paint func(string) string) {
	room := max(min(p.Width, page.TextWidthMax)-terminal.TextWidth(lead)-len("│ "), page.TextWidthMin)
	for line := range strings.SplitSeq(terminal.Wrap(strings.TrimRight(page.Clean(s), "\n"), room), "\n") {
		p.Line("%s%s%s", lead, p.Dim("│ "), paint(line))
	}
}

// AnnotationSigns is the feedback on a run for a narrow column, "" where there
// is none. How many annotations are neither ratings nor flags is known only
// where there are no ratings to subtract.
func AnnotationSigns(p *page.Page, c engine.AnnotationCounts) string {
	var parts []string
	if c.MeanRating != nil {
		parts = append(parts, SignOrWord(p, "★", "rating ")+Mean(*c.MeanRating))
	}
	if c.Flags > 0 {
		parts = append(parts, SignOrWord(p, "⚑", "flags ")+page.Itoa(int(c.Flags)))
	}
	if rest := c.Count - c.Flags; c.MeanRating == nil && rest > 0 {
		parts = append(parts, SignOrWord(p, "✎", "remarks ")+page.Itoa(int(rest)))
	}
	if c.Incomplete {
		parts = append(parts, SignOrWord(p, "?", "incomplete"))
	}
	return strings.Join(parts, SignOrWord(p, " ", ", "))
}

// AnnotationFacts writes one line with the feedback on a run, and nothing where
// there is none.
func AnnotationFacts(p *page.Page, r engine.RunSummary) {
	c := r.Annotations
	var facts []string
	if c.MeanRating != nil && p.Width > 0 {
		facts = append(facts, Stars(*c.MeanRating)+" "+Mean(*c.MeanRating))
	} else if c.MeanRating != nil {
		facts = append(facts, "rating "+Mean(*c.MeanRating))
	}
	if c.Flags > 0 {
		facts = append(facts, SignOrWord(p, "⚑ ", "")+page.Plural(int(c.Flags), "flag"))
	}
	if c.Count > 0 {
		facts = append(facts, page.Plural(int(c.Count), "annotation"))
	}
	if c.Incomplete {
		facts = append(facts, "its annotations cannot be read to their end")
	}
	if len(facts) > 0 {
		p.Facts(facts...)
	}
}

// SignOrWord is the sign on a terminal, and the word in a pipe.
func SignOrWord(p *page.Page, sign, word string) string {
	if p.Width == 0 {
		return word
	}
	return sign
}

// Mean is a mean with up to two decimals and no zeros at its end.
func Mean(m float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", m), "0"), ".")
}
