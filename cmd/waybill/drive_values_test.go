package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// doc is an object of a workflow file.
type doc = map[string]any

// published is a workflow file in the published format, as a performer reads it: what to send for a
// step follows from the file and from the answers alone.
type published struct {
	file  string
	root  doc
	steps map[string]doc    // by id, those of bodies included
	loops map[string]string // id of a step in a body → id of its loop
	shown map[string]driven // the last answer that showed a step, by its instance key
}

func readPublished(t *testing.T, file string) *published {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p := &published{file: file, steps: map[string]doc{}, loops: map[string]string{}, shown: map[string]driven{}}
	if err := json.Unmarshal(data, &p.root); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	p.index(list(p.root["steps"]), "")
	return p
}

// index records the steps of a list. A body may be the id of a step.
func (p *published) index(steps []doc, loop string) {
	for _, s := range steps {
		id := textOf(s["id"])
		p.steps[id] = s
		if loop != "" {
			p.loops[id] = loop
		}
		if name := textOf(s["body"]); name != "" {
			p.loops[name] = id
		}
		p.index(list(s["body"]), id)
	}
}

func list(v any) (out []doc) {
	items, _ := v.([]any)
	for _, item := range items {
		if d, ok := item.(doc); ok {
			out = append(out, d)
		}
	}
	return out
}

func textOf(v any) string { s, _ := v.(string); return s }

// context returns the context with which the conditions of the file hold and its loops are entered,
// as far as the conditions do not contradict each other (the first one decides), with lists and counts
// for the loops.
func (p *published) context(spell speller) doc {
	out := doc{}
	eachMember(p.root["steps"], func(member string, v any) {
		switch member {
		case "runCondition", "when", "requireConfirmation":
			assign(v, true, out, false)
		case "loop":
			loop, _ := v.(doc)
			assign(loop["condition"], loop["type"] == "while", out, false)
		}
	})
	ordered := p.ordered()
	for path, v := range out {
		if !ordered[path] {
			out[path] = spell(v)
		}
	}
	eachMember(p.root["steps"], func(member string, v any) {
		if loop, ok := v.(doc); ok && member == "loop" {
			if items := textOf(loop["items"]); items != "" {
				out[items] = []any{doc{"name": "Elm", "branches": []any{1, 2}}, doc{"name": "Ash", "branches": []any{1}}}
			}
			if count := textOf(loop["count"]); count != "" {
				out[count] = 2
			}
		}
	})
	return out
}

// ordered returns the variables that a condition compares by their order. Such comparisons take numbers
// only, in every version of the compiled form.
func (p *published) ordered() map[string]bool {
	out := map[string]bool{}
	note := func(_ string, v any) {
		c, _ := v.(doc)
		for _, word := range []string{"gt", "gte", "lt", "lte"} {
			if _, ok := c[word]; ok {
				out[textOf(c["var"])] = true
			}
		}
	}
	eachMember(p.root["steps"], func(member string, v any) {
		note(member, v)
		for _, c := range list(v) {
			note(member, c)
		}
	})
	return out
}

// eachMember calls visit for each member of the objects in v, in a fixed order.
func eachMember(v any, visit func(member string, v any)) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			eachMember(item, visit)
		}
	case doc:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			visit(name, v[name])
			eachMember(v[name], visit)
		}
	}
}

// assign sets the variables of a condition so that it has a value. Without over, a variable that is
// set stays.
func assign(condition any, value bool, out doc, over bool) {
	c, _ := condition.(doc)
	for _, word := range []string{"and", "or"} {
		for _, inner := range list(c[word]) {
			assign(inner, value, out, over)
		}
	}
	if inner, ok := c["condition"]; ok {
		assign(inner, value, out, over)
	}
	if inner, ok := c["not"]; ok {
		assign(inner, !value, out, over)
	}
	name := textOf(c["var"])
	if _, set := out[name]; name == "" || set && !over {
		return
	}
	other := func(v any) any {
		if b, ok := v.(bool); ok {
			return !b
		}
		return "something else"
	}
	for _, word := range []string{"equals", "not_equals"} {
		if v, ok := c[word]; ok && (word == "equals") == value {
			out[name] = v
		} else if ok {
			out[name] = other(v)
		}
	}
	if in, ok := c["in"].([]any); ok && len(in) > 0 && value {
		out[name] = in[0]
	}
	// What to add to the bound of a comparison that holds, and of one that does not.
	for word, off := range map[string][2]float64{"gt": {1, 0}, "gte": {0, -1}, "lt": {-1, 0}, "lte": {0, 1}} {
		if n, ok := c[word].(float64); ok {
			at := 0
			if !value {
				at = 1
			}
			out[name] = n + off[at]
		}
	}
}

// speller spells a value of the context in another way that means the same.
type speller func(any) any

// spellers are the spellings in which people and agents write values.
var spellers = map[string]speller{
	"exact": func(v any) any { return v },
	"padded": func(v any) any {
		switch v := v.(type) {
		case string:
			return " " + strings.ToLower(v) + "\u00a0"
		case bool:
			return map[bool]string{true: "Yes", false: " NO"}[v]
		case float64:
			return fmt.Sprintf(" %g ", v)
		}
		return v
	},
	"shouted": func(v any) any {
		switch v := v.(type) {
		case string:
			return strings.ToUpper(v) + "\n"
		case bool:
			return map[bool]string{true: " TRUE ", false: "False"}[v]
		case float64:
			return fmt.Sprintf("%.1f", v)
		}
		return v
	},
}

// notes returns notes that satisfy the criteria of a step.
func (p *published) notes(step doc) string {
	out := "Looked at it, decided, and wrote down which files hold the result."
	least := 0.0
	eachMember(step["validationCriteria"], func(member string, v any) {
		switch v := v.(type) {
		case string:
			if member == "value" {
				out += " " + v
			}
		case float64:
			if member == "min" {
				least = max(least, v)
			}
		}
	})
	for float64(len(out)) < least {
		out += " The second look agreed with the first."
	}
	return out
}

// assessments returns the artifacts that a step's assessments ask for, with levels that have no
// consequences.
func (p *published) assessments(step doc) (out []any) {
	bad := map[string]bool{}
	for _, c := range list(step["assessmentConsequences"]) {
		when, _ := c["when"].(doc)
		bad[textOf(when["anyEqualsLevel"])] = true
	}
	refs, _ := step["assessmentRefs"].([]any)
	for _, a := range list(p.root["assessments"]) {
		if !slices.Contains(refs, a["id"]) {
			continue
		}
		levels := doc{}
		for _, d := range list(a["dimensions"]) {
			all, _ := d["levels"].([]any)
			for _, level := range all {
				if !bad[textOf(level)] {
					levels[textOf(d["id"])] = level
				}
			}
		}
		out = append(out, doc{"kind": "wr.assessment", "assessmentId": a["id"], "dimensions": levels})
	}
	return out
}

// loopContext returns what decides the loop around a step after an iteration: values with which a loop
// over the context continues after its first iteration and ends after the second.
func (p *published) loopContext(stepID string, iteration int64) doc {
	out := doc{}
	loop, _ := p.steps[p.loops[stepID]]["loop"].(doc)
	if condition, ok := loop["condition"]; ok {
		again := iteration == 0
		assign(condition, again == (loop["type"] == "while"), out, true)
	}
	return out
}
