package render

import (
	"fmt"
	"math"
	"strings"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/pattern"
)

// untrusted encloses text of an annotation in <UNTRUSTED> marks. Output that is not for a
// terminal may be read by an agent, which must not follow such text as instructions of the
// program. Character sequences in the text that resemble a mark are escaped.
func untrusted(s string) string {
	return "<UNTRUSTED>" + markLike.ReplaceAllString(page.Clean(s), "&lt;$1") + "</UNTRUSTED>"
}

// markLike matches text that a reader could mistake for one of the marks: in upper or lower
// case, with spaces, punctuation or invisible characters in it.
var markLike = pattern.New(`(?i)<([^\p{L}\p{N}<>]*` +
	strings.Join(strings.Split("UNTRUSTED", ""), `[^\p{L}\p{N}<>]*`) + `)`)

// Quoted returns text of an annotation for this page: cleaned for a terminal, in <UNTRUSTED>
// marks otherwise.
func Quoted(p *page.Page, s string) string {
	return SignOrWord(p, page.Clean(s), untrusted(s))
}

// Stars formats a rating as five stars. A mean is rounded to a whole number of stars.
func Stars(rating float64) string {
	full := min(max(int(math.Round(rating)), 0), feedback.RatingMax)
	return strings.Repeat("★", full) + strings.Repeat("☆", feedback.RatingMax-full)
}

// SignalText returns a short text for the signal of an annotation, without correction and
// note: stars or a sign on a terminal, words and numbers otherwise.
func SignalText(p *page.Page, s feedback.Signal) string {
	// Label and kind come from the stored annotation; only the label is free text.
	switch s.Kind {
	case feedback.RatingKind:
		return SignOrWord(p, Stars(float64(s.Rating)), fmt.Sprintf("rating %d/%d", s.Rating, feedback.RatingMax))
	case feedback.CorrectionKind:
		return SignOrWord(p, "✎ ", "") + "correction"
	case feedback.LabelKind:
		return SignOrWord(p, "# ", "label ") + Quoted(p, strings.Join(strings.Fields(s.Label), " "))
	case feedback.FlagKind:
		return SignOrWord(p, "⚑ ", "") + "flag"
	}
	return string(s.Kind)
}

// SignalStyle returns the style for a signal: a warning color for ratings and flags, bold for
// all others.
func SignalStyle(p *page.Page, s feedback.Signal) func(string) string {
	switch s.Kind {
	case feedback.RatingKind, feedback.FlagKind:
		return p.Warn
	}
	return p.Bold
}

// TargetText names the target of an annotation: an event, a step or node, or the run. step is
// the title of the step at the node of the target, "" if unknown.
func TargetText(t feedback.RunTarget, step string) string {
	at := "node " + page.ShortNode(t.NodeID)
	switch {
	case t.NodeID.IsZero() && t.EventID.IsZero():
		return "the run"
	case step != "":
		at = "“" + page.OneLine(step) + "”"
	case t.NodeID.IsZero():
		return "event " + page.ShortID(t.EventID)
	}
	if !t.EventID.IsZero() {
		return "an event of " + at
	}
	return at
}

// StepAt returns the title of the step that is or was pending at a node on the path of the run,
// and "" for any other node.
func StepAt(r views.RunDetails, node id.Node) string {
	for _, s := range r.Steps {
		if s.NodeID != nil && *s.NodeID == node {
			return s.Title
		}
	}
	return ""
}

// AnnotationName returns the id of an annotation for a list: shortened on a terminal, complete
// otherwise, for use by scripts.
func AnnotationName(p *page.Page, name id.Annotation) string {
	return SignOrWord(p, page.ShortID(name), name.String())
}

// AuthorText returns the author of an annotation. One that came with a bundle is a claim of the bundle.
func AuthorText(by string, imported bool) string {
	if imported {
		return `says "` + page.OneLine(by) + `" (imported)`
	}
	return page.OneLine(by)
}

// ConfidenceText returns the recorded confidence (0 to 1) as a percentage, after two spaces; "" if
// none is recorded, as for annotations of people.
func ConfidenceText(confidence *float64) string {
	if confidence == nil {
		return ""
	}
	return fmt.Sprintf("  %.0f%% sure", 100**confidence)
}

// AnnotationTexts writes the long texts of an annotation: first the correction, then the note. On a
// terminal the correction has a bar at its left; otherwise each text is labelled.
func AnnotationTexts(p *page.Page, lead string, signal feedback.Signal, note string, paint func(string) string) {
	if p.Width == 0 {
		// An agent may read this output, so the texts are marked as untrusted.
		if signal.Correction != "" {
			p.Prose(lead+"correction: ", untrusted(signal.Correction), page.Plain)
		}
		if note != "" {
			p.Prose(lead+"note: ", untrusted(note), page.Plain)
		}
		return
	}
	if signal.Correction != "" {
		bar := lead + p.Dim("│ ")
		p.Block(bar, bar, strings.TrimRight(page.Clean(signal.Correction), "\n"), paint)
	}
	if note != "" {
		p.Prose(lead, note, paint)
	}
}

// FeedbackSummary returns the feedback on a run for a narrow column, "" if there is none. The
// number of annotations that are neither ratings nor flags is shown only for runs without
// ratings, because the counts do not contain the number of ratings.
func FeedbackSummary(p *page.Page, c views.AnnotationCounts) string {
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

// FeedbackFacts writes one line with the feedback on a run, and nothing if there is none.
func FeedbackFacts(p *page.Page, r views.RunSummary) {
	c := r.Annotations
	var facts []string
	if c.MeanRating != nil {
		facts = append(facts, SignOrWord(p, Stars(*c.MeanRating)+" ", "rating ")+Mean(*c.MeanRating))
	}
	if c.Flags > 0 {
		facts = append(facts, SignOrWord(p, "⚑ ", "")+page.Plural(int(c.Flags), "flag"))
	}
	if c.Count > 0 {
		facts = append(facts, page.Plural(int(c.Count), "annotation"))
	}
	if c.Incomplete {
		facts = append(facts, "the log of annotations cannot be read to its end")
	}
	if len(facts) > 0 {
		p.Facts(facts...)
	}
}

// SignOrWord returns what a person at a terminal sees, such as a sign or a short id, and otherwise
// what a program can read.
func SignOrWord(p *page.Page, sign, word string) string {
	if p.Width == 0 {
		return word
	}
	return sign
}

// Mean formats a mean with up to two decimals, without trailing zeros.
func Mean(m float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", m), "0"), ".")
}
