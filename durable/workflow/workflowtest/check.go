package workflowtest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/nearest"
	"github.com/waybill/waybill/durable/workflow/source"
)

// StepIDs returns the ids of the steps of a workflow that are shown, bodies of loops included, in the order of
// the document.
func StepIDs(w compile.Compiled) (out []string) {
	var add func(steps []compile.Step)
	add = func(steps []compile.Step) {
		for _, s := range steps {
			if s.Type == compile.LoopStep {
				l, _ := w.Loop(s.StepID)
				add(l.Body)
				continue
			}
			out = append(out, s.StepID)
		}
	}
	add(w.Steps)
	return out
}

// reader makes the cases of a file, and reports what cannot be true of the workflow. The shapes are
// checked already: a member of the wrong form is read as an absent one.
type reader struct {
	w      compile.Compiled
	ids    []string
	report problem.Report
}

// step returns a step that is named in the file, nil with a problem for one that the workflow does not show.
func (r reader) step(at problem.SourceValue, name string) *compile.Step {
	if slices.Contains(r.ids, name) {
		s, _ := r.w.Step(name)
		return &s
	}
	shown := reason.Clip(name, limits.MessageBytesMax)
	if _, ok := r.w.Loop(name); ok {
		r.report.Error(at, "Name the steps of its body.", "%q is a loop, and a loop is not shown", shown)
		return nil
	}
	r.report.Error(at, nearest.Suggest(name, r.ids, "Did you mean %q?", "The steps are "+list(r.ids)+"."),
		"the workflow has no step %q", shown)
	return nil
}

// list names the first of many.
func list(ids []string) string {
	const most = 20
	text := strings.Join(ids[:min(len(ids), most)], ", ")
	if len(ids) > most {
		text += fmt.Sprintf(" and %d more", len(ids)-most)
	}
	return text
}

// caseOf reads a case.
func caseOf(at problem.SourceValue, w compile.Compiled, report problem.Report) Case {
	r := reader{w: w, ids: StepIDs(w), report: report}
	c := Case{Name: at.Member("name").Value.Text(), Line: at.Value.Line(), Context: member(at, "context", canon.Object),
		Answers: map[string][]Answer{}}
	for _, name := range at.Member("preferences").Names() {
		if c.Preferences == nil {
			c.Preferences = map[string]string{}
		}
		c.Preferences[name] = at.Member("preferences").Member(name).Value.Text()
	}
	answers := at.Member("answers")
	for _, name := range answers.Names() {
		of := answers.Member(name)
		step := r.step(of, name)
		if step == nil {
			continue
		}
		c.Answers[name] = r.answers(of, *step)
	}
	c.Expect = r.expect(at.Member("expect"))
	return c
}

// answers reads the answers to a step. A person who denies ends the run, and nothing is answered after it.
func (r reader) answers(at problem.SourceValue, step compile.Step) (out []Answer) {
	ended := false
	for _, item := range at.Items() {
		if ended {
			r.report.Error(item, "Remove it, or let the answer before it not deny.",
				"step %q is answered after the end: the answer before it ends the run", step.StepID)
		}
		a := r.answer(item, step)
		out = append(out, a)
		ended = ended || a.Decision.Word == Deny
	}
	return out
}

// answer reads one answer.
func (r reader) answer(at problem.SourceValue, step compile.Step) Answer {
	a := Answer{Line: at.Value.Line(), Notes: at.Member("notes").Value.Text(), Context: member(at, "context", canon.Object),
		Ran: ranOf(at), Output: at.Member("output").Value.AtLine(0)}
	for _, item := range at.Member("artifacts").Items() {
		a.Artifacts = append(a.Artifacts, item.Value)
	}
	r.commandMembers(at, step)
	a.Checks = r.checks(at.Member("checks"), step)
	a.Decision = r.decision(at, step)
	if at.Has("confirm") {
		kind := step.RequireConfirmation.Kind
		if kind != compile.ConfirmAlways && kind != compile.ConfirmIf {
			r.report.Error(at.Member("confirm"), "Remove it.", "step %q asks for no confirmation", step.StepID)
		}
		a.Unconfirmed = at.Member("confirm").Value.Kind() == canon.Bool && !at.Member("confirm").Value.True()
	}
	return a
}

// commandMembers reports results of a command at a step that has none.
func (r reader) commandMembers(at problem.SourceValue, step compile.Step) {
	for _, name := range []string{"exit", "stdout", "stderr", "output"} {
		switch {
		case !at.Has(name), step.Action != nil, step.Host != nil && name != "stdout":
		case len(step.Checks) > 0 && name != "output":
			r.report.Error(at.Member(name), fmt.Sprintf("Write it below the check: checks: {%s: {%s: …}}.", step.Checks[0].ID, name),
				"step %q runs no command itself; it has checks", step.StepID)
		default:
			r.report.Error(at.Member(name), "Remove it.", "step %q runs no command", step.StepID)
		}
	}
}

// ranOf reads the result of a command.
func ranOf(at problem.SourceValue) Ran {
	return Ran{Exit: int64(member(at, "exit", canon.Number).Float()), Stdout: at.Member("stdout").Value.Text(),
		Stderr: at.Member("stderr").Value.Text()}
}

// checks reads the results of checks.
func (r reader) checks(at problem.SourceValue, step compile.Step) map[string]Ran {
	var out map[string]Ran
	for _, id := range at.Names() {
		of := at.Member(id)
		i := slices.IndexFunc(step.Checks, func(c source.Check) bool { return c.ID == id })
		if i < 0 {
			var ids []string
			for _, c := range step.Checks {
				ids = append(ids, c.ID)
			}
			otherwise := "It has none."
			if len(ids) > 0 {
				otherwise = "Its checks are " + list(ids) + "."
			}
			r.report.Error(of, nearest.Suggest(id, ids, "Did you mean %q?", otherwise), "step %q has no check %q", step.StepID,
				reason.Clip(id, limits.MessageBytesMax))
			continue
		}
		ran := ranOf(of)
		switch {
		case of.Value.Text() == "pass":
			ran.Passes = true
		case of.Value.Text() == "fail":
			ran.Exit = 1
			if step.Checks[i].ExitStatus() == 1 {
				ran.Exit = 0
			}
		}
		if out == nil {
			out = map[string]Ran{}
		}
		out[id] = ran
	}
	return out
}

// decision reads what people decide.
func (r reader) decision(at problem.SourceValue, step compile.Step) (d Decision) {
	for _, word := range []Word{Approve, SendBack, Deny} {
		if !at.Has(string(word)) {
			continue
		}
		of := at.Member(string(word))
		if step.RequireConfirmation.Kind != compile.ConfirmApproval {
			r.report.Error(of, "Remove it, or let the step require an approval: requireConfirmation: {kind: human_approval}.",
				"step %q requires no approval", step.StepID)
		}
		if d.Word != Undecided {
			r.report.Error(of, "Give one of them; further ones belong to further answers.", "an answer has one of approve, sendBack and deny")
		}
		d = Decision{Word: word, Reason: of.Value.Text()}
		if word != Approve {
			continue
		}
		d.Reason = ""
		switch of.Value.Kind() {
		case canon.String:
			d.By = []string{of.Value.Text()}
		case canon.Array:
			for _, item := range of.Items() {
				d.By = append(d.By, item.Value.Text())
			}
		case canon.Bool:
			if !of.Value.True() {
				r.report.Error(of, "Leave it out: a step without it is not approved.", "approve is true, or the names of people")
			}
		}
	}
	return d
}

// expect reads what a case expects.
func (r reader) expect(at problem.SourceValue) Expect {
	e := Expect{Line: at.Value.Line(), HasPath: at.Has("path"), Status: at.Member("status").Value.Text(),
		HasBlockers: at.Has("blockers"), HasWarnings: at.Has("warnings"), Context: member(at, "context", canon.Object)}
	seen := map[string]bool{}
	for _, item := range at.Member("path").Items() {
		id := item.Value.Text()
		step := r.step(item, id)
		if step != nil && seen[id] && !r.inLoop(id) {
			r.report.Error(item, "Remove it: a completed step is not shown again, unless it is in a loop.",
				"step %q is in the path twice and in no loop", id)
		}
		seen[id] = true
		e.Path = append(e.Path, id)
	}
	prompts := at.Member("prompts")
	for _, name := range prompts.Names() {
		of := prompts.Member(name)
		if r.step(of, name) == nil {
			continue
		}
		if e.Prompts == nil {
			e.Prompts = map[string][]string{}
		}
		texts := []string{of.Value.Text()}
		if of.Value.Kind() == canon.Array {
			texts = nil
			for _, item := range of.Items() {
				texts = append(texts, item.Value.Text())
			}
		}
		e.Prompts[name] = texts
	}
	e.Blockers, e.Warnings = r.matches(at.Member("blockers")), r.matches(at.Member("warnings"))
	return e
}

// inLoop reports that a step is in the body of a loop.
func (r reader) inLoop(stepID string) bool {
	place, _ := r.w.StepPlace(stepID)
	return place.LoopID != ""
}

// matches reads descriptions of blockers or warnings.
func (r reader) matches(at problem.SourceValue) (out []Match) {
	for _, item := range at.Items() {
		m := Match{Text: item.Value.Text(), Code: item.Member("code").Value.Text(), Message: item.Member("message").Value.Text(),
			Path: item.Member("path").Value.Text(), Step: item.Member("step").Value.Text()}
		if m.Step != "" {
			r.step(item.Member("step"), m.Step)
		}
		out = append(out, m)
	}
	return out
}

// member returns a member of a kind, null for one of another kind.
func member(at problem.SourceValue, name string, kind canon.Kind) canon.Value {
	if v := at.Member(name).Value; v.Kind() == kind {
		return v
	}
	return canon.Value{}
}
