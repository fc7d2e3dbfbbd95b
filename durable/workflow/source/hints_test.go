package source

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// eachObject calls visit for the objects of a shape and of those in it, each once.
func eachObject(s shape.Shape, seen map[string]bool, visit func(object)) {
	switch s := s.(type) {
	case object:
		if seen[s.What] {
			return
		}
		seen[s.What] = true
		visit(s)
		for _, f := range s.Fields {
			eachObject(f.Shape, seen, visit)
		}
	case list:
		eachObject(s.Of, seen, visit)
	case dictionary:
		eachObject(s.Value, seen, visit)
	case byKind:
		for _, inner := range s {
			eachObject(inner, seen, visit)
		}
	case byTag:
		for _, inner := range s.Cases {
			eachObject(inner, seen, visit)
		}
	case anyStep:
		eachObject(stepShape, seen, visit)
	case loopConfig:
		eachObject(loopConfigShape, seen, visit)
	case loopWhile:
		eachObject(conditionRefShape, seen, visit)
	}
}

// TestEveryHint: each key of the tables of hints is unknown to its object, is reported at its place, and
// its correction names a key that exists. Written in another case, or with _, it is the same.
func TestEveryHint(t *testing.T) {
	all := map[string]bool{}
	eachObject(workflowShape, map[string]bool{}, func(o object) {
		for _, f := range o.Fields {
			all[f.Name] = true
		}
	})
	objects, count := 0, 0
	eachObject(workflowShape, map[string]bool{}, func(o object) {
		objects++
		for name, h := range o.Hints.All() {
			count++
			if h.Key != "" && !slices.ContainsFunc(o.Fields, func(f field) bool { return f.Name == h.Key }) {
				t.Errorf("%s has no key %q, which the hint for %q names", o.What, h.Key, name)
			}
			if slices.ContainsFunc(o.Fields, func(f field) bool { return f.Name == name }) {
				t.Errorf("%s has the key %q, for which there is a hint", o.What, name)
			}
			for _, spelling := range []string{name, strings.ToUpper(name[:1]) + name[1:], name[:1] + "_" + name[1:]} {
				at := problem.SourceValue{Value: canon.OfMembers(canon.Member{Name: spelling, Value: canon.OfInt(1)})}
				fix := ""
				o.Check(at, func(p problem.Problem) {
					if p.Pointer == "/"+spelling && strings.Contains(p.Message, "no key") {
						fix = p.Fix
					}
				})
				named := slices.ContainsFunc(strings.Split(fix, `"`), func(word string) bool { return all[word] })
				if fix == "" || !named {
					t.Errorf("%s, key %q: the correction %q names no key", o.What, spelling, fix)
				}
			}
		}
	})
	if objects < 40 || count < 200 {
		t.Errorf("only %d objects and %d hints were found", objects, count)
	}
	// Shapes that eachObject does not know would not be examined.
	for _, s := range []shape.Shape{text{}, amount{}, oneKind{}, anything{}} {
		if reflect.TypeOf(s).Kind() != reflect.Struct {
			t.Errorf("%T", s)
		}
	}
}

// TestEveryObjectKnowsItsKeys: for a misspelt key of any object the key is suggested, and for an unlike
// one of a small object its keys are listed.
func TestEveryObjectKnowsItsKeys(t *testing.T) {
	eachObject(workflowShape, map[string]bool{}, func(o object) {
		if o.Open {
			return
		}
		for _, f := range o.Fields {
			wrong := f.Name + "x"
			hint, _ := o.Meant(wrong)
			if len(f.Name) > 3 && !strings.Contains(hint.Fix, fmt.Sprintf("%q", f.Name)) && !strings.Contains(hint.Fix, "Did you mean") {
				t.Errorf("%s, key %q: %q", o.What, wrong, hint.Fix)
			}
		}
		if hint, keys := o.Meant("qqqqqqqq"); len(keys) <= 12 && !strings.Contains(hint.Fix, strings.Join(keys, ", ")) {
			t.Errorf("%s: %q", o.What, hint.Fix)
		}
	})
}

// TestHints: the frequent mistakes, one problem each.
func TestHints(t *testing.T) {
	const step, max = `, {"id": "a", "title": "A", `, `"maxIterations": 3`
	inner := `[{"id": "in", "title": "In", "prompt": "p"}]`
	forEach := `"loop": {"type": "forEach", "items": "files", ` + max + `}`
	checkRows(t, problem.Error, []row{
		{"", step + `"run": "make"}`, "/steps/1/run", `no key "run"`, `"action": {"kind": "command", "argv"`},
		{"", step + `"prompt": "p", "requireApproval": true}`, "/steps/1/requireApproval", "no key",
			`"requireConfirmation": {"kind": "human_approval"}`},
		{"", step + `"description": "p"}`, "/steps/1/description", "no key", `Write "prompt".`},
		{"", step + `"promt": "p"}`, "/steps/1/promt", "no key", `Did you mean "prompt"?`},
		{"", step + `"prompt": "p", "when": {"var": "a"}}`, "/steps/1/when", "no key", `"runCondition"`},
		{"", step + `"prompt": "p", "forEach": "files"}`, "/steps/1/forEach", "no key", `"items"`},
		{"", step + `"action": {"kind": "command", "argv": ["a"], "timeout": 3}}`, "/steps/1/action/timeout", "no key",
			`"timeoutSeconds"`},
		{"", step + `"type": "loop", ` + forEach + `, "body": ` + inner + `, "over": "files"}`, "/steps/1/over", "no key",
			`"items" is the context path of the list`},
		{"", step + `"type": "loop", "body": ` + inner + `, "loop": {"type": "forEach", "items": "files", "over": "x", ` + max +
			`}}`, "/steps/1/loop/over", "no key", `Write "items".`},
		{`, "title": "T"`, "", "/title", "no key", `Write "name".`},
	})
	// What is below a wrong name is checked too.
	_, found := parse(file("", step+`"type": "loop", `+forEach+`, "steps": [{"id": "in", "title": "In", "promt": "p"}]}`))
	var got []string
	for _, p := range found {
		got = append(got, p.Pointer+": "+p.Fix)
	}
	want := []string{`/steps/1: Add "body": a string of 1 to 64 characters or a list that is not empty.`,
		`/steps/1/steps: Write "body".`, `/steps/1/steps/0/promt: Did you mean "prompt"?`}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestUnknownTypeHidesNothing: a step of an unknown type is checked as one of the nearest type.
func TestUnknownTypeHidesNothing(t *testing.T) {
	_, found := parse(file("", `, {"id": "A A", "title": "", "type": "lop", "boddy": []}`))
	var got []string
	for _, p := range found {
		got = append(got, p.Pointer)
	}
	for _, want := range []string{"/steps/1/id", "/steps/1/title", "/steps/1/type", "/steps/1/boddy"} {
		if !slices.Contains(got, want) {
			t.Errorf("no problem at %s: %q", want, got)
		}
	}
}
