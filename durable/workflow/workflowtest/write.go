package workflowtest

import (
	"maps"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/yaml"
)

// Text returns a file of tests as YAML, which Parse reads as the same file. comment is a line above it, without
// the mark of a comment.
func (f File) Text(comment string) []byte {
	cases := yaml.List{}
	for _, c := range f.Cases {
		cases = append(cases, c.object())
	}
	return append([]byte("# "+comment+"\n"), yaml.Text(yaml.Object{{Key: "cases", Value: cases}})...)
}

// object returns a case as it is written. Steps are in the order of the path, then by id.
func (c Case) object() yaml.Object {
	prefs := yaml.Object{}
	for _, key := range slices.Sorted(maps.Keys(c.Preferences)) {
		prefs = prefs.Add(key, c.Preferences[key])
	}
	order := []string{}
	for _, id := range slices.Concat(c.Expect.Path, slices.Sorted(maps.Keys(c.Answers))) {
		if _, has := c.Answers[id]; has && !slices.Contains(order, id) {
			order = append(order, id)
		}
	}
	answers := yaml.Object{}
	for _, id := range order {
		list := yaml.List{}
		for _, a := range c.Answers[id] {
			list = append(list, a.object())
		}
		answers = answers.Add(id, list)
	}
	return yaml.Object{{Key: "name", Value: c.Name}}.Add("context", c.Context).Add("preferences", prefs).Add("answers", answers).
		Add("expect", c.Expect.value())
}

// object returns an answer as it is written.
func (a Answer) object() yaml.Object {
	out := yaml.Object{}.Add("notes", a.Notes)
	if len(a.Artifacts) > 0 {
		out = out.Add("artifacts", canon.OfList(a.Artifacts...))
	}
	out = append(out.Add("context", a.Context), a.Ran.object()...).Add("output", a.Output)
	checks := yaml.Object{}
	for _, id := range slices.Sorted(maps.Keys(a.Checks)) {
		if ran := a.Checks[id]; ran.Passes {
			checks = checks.Add(id, "pass")
		} else {
			checks = append(checks, yaml.Member{Key: id, Value: ran.object()})
		}
	}
	out = out.Add("checks", checks)
	switch d := a.Decision; {
	case d.Word == Approve && len(d.By) > 0:
		by := yaml.List{}
		for _, name := range d.By {
			by = append(by, name)
		}
		out = out.Add("approve", by)
	case d.Word == Approve:
		out = out.Add("approve", true)
	case d.Word != Undecided:
		out = out.Add(string(d.Word), d.Reason)
	}
	if a.Unconfirmed {
		out = append(out, yaml.Member{Key: "confirm", Value: canon.OfBool(false)})
	}
	return out
}

// object returns the result of a command as it is written.
func (r Ran) object() yaml.Object {
	out := yaml.Object{}
	if r.Exit != 0 {
		out = out.Add("exit", canon.OfInt(r.Exit))
	}
	return out.Add("stdout", r.Stdout).Add("stderr", r.Stderr)
}

// value returns what is expected as it is written.
func (e Expect) value() any {
	out := yaml.Object{}
	if e.HasPath {
		path := yaml.List{}
		for _, id := range e.Path {
			path = append(path, id)
		}
		out = append(out, yaml.Member{Key: "path", Value: path})
	}
	out = out.Add("status", e.Status)
	if e.HasBlockers {
		out = append(out, yaml.Member{Key: "blockers", Value: matchList(e.Blockers)})
	}
	prompts := yaml.Object{}
	for _, id := range slices.Sorted(maps.Keys(e.Prompts)) {
		texts := yaml.List{}
		for _, text := range e.Prompts[id] {
			texts = append(texts, text)
		}
		prompts = prompts.Add(id, texts)
	}
	out = out.Add("prompts", prompts).Add("context", e.Context)
	if e.HasWarnings {
		out = append(out, yaml.Member{Key: "warnings", Value: matchList(e.Warnings)})
	}
	if len(out) == 0 {
		return canon.OfMembers()
	}
	return out
}

// matchList returns descriptions as they are written.
func matchList(all []Match) yaml.List {
	out := yaml.List{}
	for _, m := range all {
		if m.Text != "" {
			out = append(out, m.Text)
			continue
		}
		out = append(out, yaml.Object{}.Add("code", m.Code).Add("step", m.Step).Add("path", m.Path).Add("message", m.Message))
	}
	return out
}
