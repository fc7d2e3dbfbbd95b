package compile

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/workflow/source"
)

// oneMember draws the object with exactly one of the named members.
func (d *drawer) oneMember(s schemaNode, names ...string) schemaNode {
	name := rapid.SampledFrom(names).Draw(d.t, "form")
	if d.depth > 2 {
		return schemaNode{"not": d.named("validationRule")}
	}
	d.depth++
	defer func() { d.depth-- }()
	return schemaNode{name: d.of(s["properties"].(schemaNode)[name].(schemaNode))}
}

// plainStep draws one of prompt, promptBlocks and templateCall; WorkRail rejects several.
func (d *drawer) plainStep(s schemaNode) any {
	out := d.object(s)
	for _, name := range []string{"prompt", "promptBlocks", "templateCall"} {
		delete(out, name)
	}
	properties := s["properties"].(schemaNode)
	switch rapid.IntRange(0, 5).Draw(d.t, "shown") {
	case 0, 1:
		out["promptBlocks"] = d.named("promptBlocks")
	case 2:
		return d.call(out)
	default:
		out["prompt"] = d.of(properties["prompt"].(schemaNode))
		if len(d.slots) > 0 && rapid.Bool().Draw(d.t, "bound") {
			out["prompt"] = "Carry out {{wr.bindings." + rapid.SampledFrom(d.slots).Draw(d.t, "slot") + "}}."
		}
	}
	d.declared(out)
	makeUnique(out["promptFragments"], "id", "f")
	return out
}

// call draws a templateCall, which makes most other members of the step have no effect.
func (d *drawer) call(out schemaNode) schemaNode {
	call := schemaNode{"templateId": rapid.SampledFrom([]string{"wr.templates.routine.look",
		"wr.templates.capability_probe"}).Draw(d.t, "template")}
	if call["templateId"] == "wr.templates.routine.look" {
		call["args"] = schemaNode{"what": rapid.SampledFrom([]any{"it", 3, true, []any{"a"}}).Draw(d.t, "what")}
	} else {
		call["args"] = schemaNode{"capability": rapid.SampledFrom([]string{"delegation", "web_browsing"}).
			Draw(d.t, "capability")}
	}
	kept := schemaNode{"templateCall": call}
	for name, v := range out {
		if slices.Contains(acceptedMembers, name) {
			kept[name] = v
		}
	}
	return kept
}

// declared draws references to names that are declared.
func (d *drawer) declared(out schemaNode) {
	delete(out, "assessmentConsequences")
	delete(out, "assessmentRefs")
	if len(d.levels) > 0 && rapid.Bool().Draw(d.t, "assessed") {
		var ids []string
		for id := range d.levels {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		id := rapid.SampledFrom(ids).Draw(d.t, "assessment")
		out["assessmentRefs"] = []any{id}
		if rapid.Bool().Draw(d.t, "consequence") {
			when := schemaNode{"anyEqualsLevel": rapid.SampledFrom(d.levels[id]).Draw(d.t, "level")}
			if rapid.Bool().Draw(d.t, "only") {
				when["forAssessment"] = id
			}
			out["assessmentConsequences"] = []any{schemaNode{"when": when,
				"effect": schemaNode{"kind": "require_followup", "guidance": "Look again."}}}
		}
	}
	seen := slices.Clone(d.functions)
	makeUnique(out["functionDefinitions"], "name", "own")
	for _, f := range asList(out["functionDefinitions"]) {
		seen = append(seen, f.(schemaNode)["name"].(string))
	}
	delete(out, "functionReferences")
	delete(out, "functionCalls")
	if len(seen) > 0 && rapid.Bool().Draw(d.t, "functions") {
		out["functionReferences"] = []any{rapid.SampledFrom(seen).Draw(d.t, "reference") + "()"}
		out["functionCalls"] = []any{schemaNode{"name": rapid.SampledFrom(seen).
			Draw(d.t, "call"), "args": schemaNode{"a": []any{1, "b"}}}}
	}
}

// makeUnique gives the members of a list distinct names.
func makeUnique(list any, key, prefix string) {
	for i, item := range asList(list) {
		item.(schemaNode)[key] = fmt.Sprintf("%s%d", prefix, i)
		makeUnique(item.(schemaNode)["parameters"], "name", "p")
	}
}

func asList(v any) []any {
	list, _ := v.([]any)
	return list
}

// loopStep draws a loop with a list as its body, or with a named step.
func (d *drawer) loopStep(s schemaNode) any {
	out := d.object(s)
	if _, named := out["body"].(string); named {
		d.bodies = append(d.bodies, out)
	}
	makeUnique(out["functionDefinitions"], "name", "around")
	return out
}

// nameBodies gives each loop with a named body a different step, and leaves at least one step
// in the main sequence.
func (d *drawer) nameBodies(steps []any) []any {
	for _, loop := range d.bodies {
		d.ids++
		id := fmt.Sprintf("body-%d", d.ids)
		loop["body"] = id
		steps = append(steps, schemaNode{"id": id, "title": "Again", "prompt": "Once more."})
	}
	return steps
}

// loopConfig draws the members that its type requires.
func (d *drawer) loopConfig(s schemaNode) any {
	out := d.object(s)
	properties := s["properties"].(schemaNode)
	out["maxIterations"] = rapid.IntRange(1, 1000).Draw(d.t, "maxIterations")
	delete(out, "conditionSource")
	d.variables(out)
	if _, ok := out["items"]; ok {
		out["items"] = "plan.files"
	}
	if _, ok := out["count"].(string); ok {
		out["count"] = "plan.rounds"
	}
	switch out["type"] {
	case "for":
		out["count"] = rapid.SampledFrom([]any{0, 3, 1000, "rounds"}).Draw(d.t, "count")
	case "forEach":
		out["items"] = rapid.SampledFrom([]string{"files", "plan.files", "plan-files"}).Draw(d.t, "items")
	default:
		if rapid.Bool().Draw(d.t, "by artifact") {
			out["conditionSource"] = schemaNode{"kind": "artifact_contract", "contractRef": "wr.contracts.loop_control",
				"loopId": "some-loop"}
		} else if rapid.Bool().Draw(d.t, "by source") {
			out["conditionSource"] = schemaNode{"kind": "context_variable", "condition": d.named("condition")}
		} else {
			out["condition"] = d.of(properties["condition"].(schemaNode))
		}
	}
	return out
}

// variables draws names that may be equal to the default of another variable, but not to a
// name that is drawn, which would be an error.
func (d *drawer) variables(out schemaNode) {
	free := []string{"currentIteration", "currentItem", "currentIndex", "file", "_1"}
	for _, key := range []string{"iterationVar", "itemVar", "indexVar"} {
		if _, ok := out[key]; ok {
			name := rapid.SampledFrom(free).Draw(d.t, key)
			out[key] = name
			free = slices.DeleteFunc(slices.Clone(free), func(s string) bool { return s == name })
		}
	}
}

// condition draws a variable, a comparison, or one of and, or, not. The schema also allows an
// empty object, an empty list, several forms in one object and an empty variable name, whose
// meaning is not defined.
func (d *drawer) condition(s schemaNode) any {
	properties := s["properties"].(schemaNode)
	d.depth++
	defer func() { d.depth-- }()
	form := rapid.IntRange(0, 8).Draw(d.t, "condition")
	if d.depth > 3 {
		form = 0
	}
	switch form {
	case 1:
		return schemaNode{"not": d.named("condition")}
	case 2, 3:
		list := []any{d.named("condition"), d.named("condition")}
		return schemaNode{[]string{"and", "or"}[form-2]: list[:rapid.IntRange(1, 2).Draw(d.t, "parts")]}
	}
	out := schemaNode{"var": rapid.SampledFrom([]string{"mode", "review.open", "file_count", "isX"}).Draw(d.t, "var")}
	for _, name := range []string{"equals", "not_equals", "gt", "gte", "lt", "lte", "contains", "in"} {
		if len(out) > 1 && rapid.IntRange(0, 4).Draw(d.t, "another") > 0 || rapid.IntRange(0, 4).Draw(d.t, name) > 0 &&
			name != "in" {
			continue
		}
		if out[name] = d.of(properties[name].(schemaNode)); name == "in" {
			out[name] = []any{1, "a", nil}
		}
	}
	return out
}

// rule draws the members that its type requires, and members of other types. Its operand is
// valid.
func (d *drawer) rule(s schemaNode) any {
	out := d.object(s)
	if rapid.IntRange(0, 3).Draw(d.t, "silent") == 0 {
		out["message"] = ""
	}
	switch out["type"] {
	case "contains":
		out["value"] = "## Findings"
	case "regex":
		out["pattern"] = rapid.SampledFrom([]string{`(?i)in scope`, `^#+ .+$`, `\d{1,3}%\s`, `(?:a|b)+[^\]]\/`,
			`(?<year>\d{4})`, `[\u2010-\u2015]\u{1F600}?`, `\ud83d\ude00`}).Draw(d.t, "pattern")
		delete(out, "flags")
		if rapid.Bool().Draw(d.t, "flagged") {
			out["flags"] = rapid.SampledFrom([]string{"", "i", "g", "im", "gimsuy", "y"}).Draw(d.t, "flags")
		}
	case "length":
		out["min"] = rapid.IntRange(0, 900).Draw(d.t, "min")
		if delete(out, "max"); rapid.Bool().Draw(d.t, "bounded") {
			out["max"] = 1000
		}
	case "schema":
		out["schema"] = schemaNode{"type": "object", "required": []any{"a"}, "minProperties": 1, "maxProperties": 9,
			"uniqueItems": true,
			"properties":  schemaNode{"a": schemaNode{"type": []any{"string", "null"}, "minLength": 1}}}
	}
	if _, ok := out["condition"]; ok { // which the schema spells out once more
		out["condition"] = d.named("condition")
	}
	return out
}

// confirmation draws any of its forms; conditions in it are drawn by condition.
func (d *drawer) confirmation(s schemaNode) any { return d.of(schemaNode{"oneOf": s["oneOf"]}) }

// TestToleratedMistakes: mistakes of existing files that do not make a run ambiguous are
// warnings and have no effect on the compiled document.
func TestToleratedMistakes(t *testing.T) {
	options := publishedOptions(t)
	look := `"templateCall": {"templateId": "wr.templates.routine.look", "args": {"what": "it"}}`
	for _, row := range []struct{ more, steps, same, warning string }{
		{"", step("a", `, "validationCriteria": []`), step("a", ""), "/steps/0/validationCriteria"},
		{"", step("a", `, "functionReferences": ["nowhere()"]`), step("a", ""), "/steps/0/functionReferences/0"},
		{"", step("a", `, "validationCriteria": [{"type": "regex", "pattern": "Findings", "flags": "gu", "message": "m"}]`),
			step("a", `, "validationCriteria": [{"type": "regex", "pattern": "Findings", "message": "m"}]`),
			"/steps/0/validationCriteria/0/flags"},
		{"", step("a", `, "validationCriteria": [{"type": "contains", "value": "Findings", "max": 3, "message": ""}]`),
			step("a", `, "validationCriteria": [{"type": "contains", "value": "Findings", "message": ""}]`),
			"/steps/0/validationCriteria/0/max"},
		{"", `{"id": "a", "title": "T", "guidance": ["g"], ` + look + `}`, `{"id": "a", "title": "T", ` + look + `}`,
			"/steps/0/guidance"},
		{"", `{"id": "a", "title": "T", "promptFragments": [{"id": "f", "text": "t"}], ` + look + `}`,
			`{"id": "a", "title": "T", ` + look + `}`, "/steps/0/promptFragments"},
		{"", `{"id": "a", "title": "T", "outputContract": {"contractRef": "wr.contracts.loop_control"}, ` + look + `}`,
			`{"id": "a", "title": "T", ` + look + `}`, "/steps/0/outputContract"},
	} {
		_, c, found := FileWith("x.json", source.SourceProject, sourceText(row.more, row.steps), options)
		_, same, _ := FileWith("x.json", source.SourceProject, sourceText(row.more, row.same), options)
		if source.HasErrors(found) || len(found) == 0 || found[0].Pointer != row.warning || c.Hash() != same.Hash() {
			t.Errorf("%s: %v\n%s", row.steps, found, c.Bytes())
		}
		if len(slices.Compact(slices.Clone(found))) != len(found) {
			t.Errorf("%s: a problem is reported twice: %v", row.steps, found)
		}
	}
	_, c, found := FileWith("x.json", source.SourceProject,
		sourceText(`, "metaGuidance": ["Write {{wr.bindings.slot}}."]`, step("a", "")), options)
	if source.HasErrors(found) || c.MetaGuidance[0] != "Write {{wr.bindings.slot}}." {
		t.Errorf("%v, %q", found, c.MetaGuidance)
	}
}
