package trial

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/workflow/workflowtest"
)

// compare returns the result of the case.
func (p *player) compare() CaseResult {
	p.compareStop()
	p.comparePath()
	if want := p.c.Expect.Status; want != "" && want != p.status {
		p.differs("status", "the status is another one", want, p.status)
	}
	p.compareBlockers()
	p.comparePrompts()
	p.compareContext()
	p.compareWarnings()
	out := CaseResult{Name: p.c.Name, Line: p.c.Line, OK: len(p.failures) == 0, Failures: append([]Failure{}, p.failures...),
		Path: append([]string{}, p.path...), Status: p.status, Blockers: append([]Blocker{}, p.blockers...), Warnings: []string{}}
	for _, w := range p.warnings {
		if !slices.Contains(out.Warnings, w.code) {
			out.Warnings = append(out.Warnings, w.code)
		}
	}
	return out
}

// differs adds a failure with both values, each cut to its limit.
func (p *player) differs(what, message, expected, got string) {
	p.fail(Failure{What: what, Line: p.c.Expect.Line, Message: message, Expected: reason.Clip(expected, limits.TestShownBytesMax),
		Got: reason.Clip(got, limits.TestShownBytesMax)})
}

// compareStop reports a run that stopped before its end, unless the case expects that: a status that is not
// that of an end, or blockers.
func (p *player) compareStop() {
	e := p.c.Expect
	if p.stopped == "" || e.Status == p.status && e.Status != "" || len(e.Blockers) > 0 && len(p.refused) > 0 {
		return
	}
	message := p.stopped
	if len(p.refused) > 0 {
		message += "; the last attempt was refused: " + textOf(p.refused)
	}
	p.fail(Failure{What: "answers", Line: p.c.Line, Message: reason.Clip(message, limits.TestShownBytesMax)})
}

// comparePath compares the steps that were shown.
func (p *player) comparePath() {
	want := p.c.Expect.Path
	if !p.c.Expect.HasPath || slices.Equal(want, p.path) {
		return
	}
	i := 0
	for i < min(len(want), len(p.path)) && want[i] == p.path[i] {
		i++
	}
	message := fmt.Sprintf("step %d of the path is another one", i+1)
	switch {
	case i == len(p.path):
		message = fmt.Sprintf("the path ends after step %d", i)
	case i == len(want):
		message = fmt.Sprintf("the path continues after step %d", i)
	}
	p.differs("path", message, "["+strings.Join(want, ", ")+"]", "["+strings.Join(p.path, ", ")+"]")
}

// matches reports that a blocker is the one that a case describes.
func (b Blocker) matches(m workflowtest.Match) bool {
	return (m.Text == "" || m.Text == string(b.Code) || strings.Contains(b.Message, m.Text)) &&
		(m.Code == "" || m.Code == string(b.Code)) && (m.Step == "" || m.Step == b.Step) && strings.Contains(b.Message, m.Message)
}

// compareBlockers requires each expected blocker at an attempt that was refused, and each blocker of the
// attempt at which the run stopped among the expected ones.
func (p *player) compareBlockers() {
	e := p.c.Expect
	if !e.HasBlockers {
		return
	}
	for _, m := range e.Blockers {
		if !slices.ContainsFunc(p.blockers, func(b Blocker) bool { return b.matches(m) }) {
			p.differs("blockers", "no attempt was refused with the blocker "+describe(m), describeAll(e.Blockers), textOf(p.blockers))
			return
		}
	}
	for _, b := range p.refused {
		if !slices.ContainsFunc(e.Blockers, b.matches) {
			p.differs("blockers", fmt.Sprintf("the run stopped with a blocker that is not expected: %s", b), describeAll(e.Blockers),
				textOf(p.refused))
			return
		}
	}
}

// String is the code and the message.
func (b Blocker) String() string { return string(b.Code) + ": " + b.Message }

// textOf lists blockers.
func textOf(all []Blocker) string {
	if len(all) == 0 {
		return "none"
	}
	texts := make([]string, len(all))
	for i, b := range all {
		texts[i] = b.String()
	}
	return strings.Join(texts, "; ")
}

// describe is a description as a text.
func describe(m workflowtest.Match) string {
	if m.Text != "" {
		return fmt.Sprintf("%q", m.Text)
	}
	var parts []string
	for _, part := range []struct{ name, text string }{{"code", m.Code}, {"step", m.Step}, {"path", m.Path}, {"message", m.Message}} {
		if part.text != "" {
			parts = append(parts, fmt.Sprintf("%s %q", part.name, part.text))
		}
	}
	return strings.Join(parts, ", ")
}

// describeAll lists descriptions.
func describeAll(all []workflowtest.Match) string {
	if len(all) == 0 {
		return "none"
	}
	texts := make([]string, len(all))
	for i, m := range all {
		texts[i] = describe(m)
	}
	return strings.Join(texts, "; ")
}

// comparePrompts requires each text in a title or prompt of its step.
func (p *player) comparePrompts() {
	for _, id := range slices.Sorted(maps.Keys(p.c.Expect.Prompts)) {
		for i, want := range p.c.Expect.Prompts[id] {
			message, got := fmt.Sprintf("step %q was not shown", id), ""
			if found := p.found[id]; found != nil {
				if found[i] {
					continue
				}
				message, got = fmt.Sprintf("no prompt of step %q contains the text", id), p.shown[id]
			}
			p.differs("prompts", message, want, got)
		}
	}
}

// compareContext requires each member at the end. null: it is absent.
func (p *player) compareContext() {
	want := p.c.Expect.Context
	got := p.now.Context()
	for i := range want.Len() {
		key := want.Key(i)
		have, _ := got.Get(key)
		if have.Equal(want.Item(i)) {
			continue
		}
		shown := "nothing"
		if !have.IsNull() {
			shown = string(have.JCS())
		}
		expected := "nothing"
		if !want.Item(i).IsNull() {
			expected = string(want.Item(i).JCS())
		}
		p.differs("context", fmt.Sprintf("the context has another value of %q", key), expected, shown)
	}
}

// compareWarnings requires each expected warning in an answer. An empty list expects none at all.
func (p *player) compareWarnings() {
	e := p.c.Expect
	if !e.HasWarnings {
		return
	}
	got := "none"
	for i, w := range p.warnings {
		if i == 0 {
			got = ""
		} else {
			got += "; "
		}
		got += w.code + ": " + w.message
	}
	if len(e.Warnings) == 0 && len(p.warnings) > 0 {
		p.differs("warnings", "there are warnings", "none", got)
	}
	for _, m := range e.Warnings {
		if !slices.ContainsFunc(p.warnings, func(w shownWarning) bool { return w.matches(m) }) {
			p.differs("warnings", "no answer has the warning "+describe(m), describeAll(e.Warnings), got)
		}
	}
}

// matches reports that a warning is the one that a case describes.
func (w shownWarning) matches(m workflowtest.Match) bool {
	return (m.Text == "" || m.Text == w.code || strings.Contains(w.message, m.Text)) && (m.Code == "" || m.Code == w.code) &&
		(m.Path == "" || m.Path == w.path) && strings.Contains(w.message, m.Message)
}
