package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/infra/terminal"
)

// untrusted puts what somebody said between marks (R28): where no person looks on, an
// agent may read it, and must not take it for words of ours.
func untrusted(s string) string {
	return "<UNTRUSTED>" + markLike.ReplaceAllString(clean(s), "&lt;$1") + "</UNTRUSTED>"
}

// markLike is what could be taken for one of the marks within the text, by whoever reads
// it with less care than a parser: in any case, with blanks, signs or characters that
// nobody sees in it.
var markLike = pattern.New(`(?i)<([^\p{L}\p{N}<>]*` + strings.Join(strings.Split("UNTRUSTED", ""), `\p{Cf}*`) + `)`)

// others is a text that somebody said, as this page may show it.
func (p *page) others(s string) string {
	if p.width == 0 {
		return untrusted(s)
	}
	return clean(s)
}

// stars draws a rating, for people: a mean is drawn as the nearest whole one.
func stars(rating float64) string {
	full := min(max(int(math.Round(rating)), 0), feedback.RatingMax)
	return strings.Repeat("★", full) + strings.Repeat("☆", feedback.RatingMax-full)
}

// signalWords says in a few words what an annotation says, without its long text. Programs
// that read a pipe get numbers and words, no pictures.
func (p *page) signalWords(s feedback.Signal) string {
	picture := func(sign, word string) string {
		if p.width == 0 {
			return word
		}
		return sign + " " + word
	}
	switch s.Kind {
	case feedback.RatingKind:
		if p.width == 0 {
			return fmt.Sprintf("rating %d/%d", s.Rating, feedback.RatingMax)
		}
		return stars(float64(s.Rating))
	case feedback.CorrectionKind:
		return picture("✎", "correction")
	case feedback.LabelKind:
		label := p.others(strings.Join(strings.Fields(s.Label), " "))
		if p.width == 0 {
			return "label " + label
		}
		return "# " + label
	case feedback.FlagKind:
		return picture("⚑", "flag")
	}
	return string(s.Kind)
}

// signalPaint colors what asks for somebody to look.
func (p *page) signalPaint(s feedback.Signal) func(string) string {
	switch s.Kind {
	case feedback.RatingKind, feedback.FlagKind:
		return p.warn
	}
	return p.bold
}

// aboutWords names what an annotation is about; step is the title of the step there, ""
// where there is none.
func aboutWords(t feedback.RunTarget, step string) string {
	at := ""
	switch {
	case step != "":
		at = "“" + clean(step) + "”"
	case !t.NodeID.IsZero():
		at = "node " + shortNode(t.NodeID)
	}
	switch {
	case !t.EventID.IsZero() && at != "":
		return "an event of " + at
	case !t.EventID.IsZero():
		return "event " + shortID(t.EventID)
	case at != "" && !t.NodeID.IsZero():
		return at
	}
	return "the run"
}

// stepAt is the title of the step that is or was pending at a node of the run's path.
func stepAt(r engine.RunDetails, node id.Node) string {
	for _, s := range r.Steps {
		if s.NodeID != nil && *s.NodeID == node {
			return s.Title
		}
	}
	return ""
}

// shortID is as much of an id as people are shown.
func shortID[T interface{ String() string }](name T) string {
	_, rest, _ := strings.Cut(name.String(), "_")
	return rest[:min(len(rest), shortRunLen)]
}

// annotationName is what an annotation is called: in a pipe by its whole id, so that it
// can be cut out and used whatever else is there.
func (p *page) annotationName(name id.Annotation) string {
	if p.width == 0 {
		return name.String()
	}
	return shortID(name)
}

// sureWords says how sure an agent was.
func sureWords(confidence *float64) string {
	if confidence == nil {
		return ""
	}
	return fmt.Sprintf("  %.0f%% sure", 100**confidence)
}

// remarks writes the long texts of an annotation, what should stand there before why. A
// bar at its side tells the one from the other at a terminal, a word in a pipe.
func (p *page) remarks(lead string, signal feedback.Signal, note string, paint func(string) string) {
	if p.width == 0 {
		if signal.Correction != "" {
			p.text(lead+"correction: ", untrusted(signal.Correction))
		}
		if note != "" {
			p.text(lead+"note: ", untrusted(note))
		}
		return
	}
	if signal.Correction != "" {
		p.barred(lead, signal.Correction, paint)
	}
	if note != "" {
		p.painted(lead, note, paint)
	}
}

// barred writes a text with a bar at its side, all the way down.
func (p *page) barred(lead, s string, paint func(string) string) {
	room := max(min(p.width, textWidthMax)-terminal.TextWidth(lead)-len("│ "), textWidthMin)
	for line := range strings.SplitSeq(terminal.Wrap(strings.TrimRight(clean(s), "\n"), room), "\n") {
		p.line("%s%s%s", lead, p.dim("│ "), paint(line))
	}
}

// saidBrief is what people said of a run in a few signs, "" where nobody said anything.
// Of what is neither a rating nor a flag only the number is known, where there are no
// ratings to take out of it.
func (p *page) saidBrief(c engine.AnnotationCounts) string {
	var parts []string
	if c.MeanRating != nil {
		parts = append(parts, p.signed("★", "rating ")+mean(*c.MeanRating))
	}
	if c.Flags > 0 {
		parts = append(parts, p.signed("⚑", "flags ")+itoa(int(c.Flags)))
	}
	if rest := c.Count - c.Flags; c.MeanRating == nil && rest > 0 {
		parts = append(parts, p.signed("✎", "remarks ")+itoa(int(rest)))
	}
	if c.Incomplete {
		parts = append(parts, p.signed("?", "incomplete"))
	}
	return strings.Join(parts, p.signed(" ", ", "))
}

// said writes a line about what people said of a run, none where nobody said anything.
func (p *page) said(r engine.RunSummary) {
	c := r.Annotations
	var facts []string
	if c.MeanRating != nil && p.width > 0 {
		facts = append(facts, stars(*c.MeanRating)+" "+mean(*c.MeanRating))
	} else if c.MeanRating != nil {
		facts = append(facts, "rating "+mean(*c.MeanRating))
	}
	if c.Flags > 0 {
		facts = append(facts, p.signed("⚑ ", "")+plural(int(c.Flags), "flag"))
	}
	if c.Count > 0 {
		facts = append(facts, plural(int(c.Count), "annotation"))
	}
	if c.Incomplete {
		facts = append(facts, "its annotations cannot be read to their end")
	}
	if len(facts) > 0 {
		p.facts(facts...)
	}
}

// signed is a sign for people, a word for a pipe.
func (p *page) signed(sign, word string) string {
	if p.width == 0 {
		return word
	}
	return sign
}

// mean is a mean without needless digits.
func mean(m float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", m), "0"), ".")
}
