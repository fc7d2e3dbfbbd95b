package advance_test

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/choices"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
)

const fixedInput = `{"contextKey":"target","reason":"needs_user_choice","choiceKind":"scope_boundary","choices":["a","b"],"description":"where to"}`

// pinned selects compiled form 1, as earlier versions wrote it for a workflow with fixed choices.
const pinned = ` `

const takenInput = `{"contextKey":"target","reason":"needs_user_choice","choiceKind":"scope_boundary",` +
	`"choicesFrom":{"step":"plan","pointer":"/targets"},"description":"where to"}`

// decideInput decides an attempt with a context at a step with one input.
func decideInput(t *testing.T, input, more string, taken map[string]choices.List, mode event.Autonomy, before,
	given string) event.AdvanceOutcome {
	t.Helper()
	_, w, problems := compile.File("test.json", source.SourceProject, []byte(
		`{"id":"test.one","name":"N","description":"d","version":"1.0.0","steps":[{"id":"plan","title":"Plan","prompt":"p"`+more+
			`},{"id":"ask","title":"Ask","prompt":"p","inputs":[`+input+`]}]}`))
	if source.HasErrors(problems) {
		t.Fatal(problems)
	}
	if more == pinned {
		var err error
		if w, err = compile.Decode([]byte(strings.Replace(string(w.Bytes()), `"schemaVersion":2`, `"schemaVersion":1`, 1))); err != nil || w.Form2() {
			t.Fatalf("form %d: %v", w.SchemaVersion, err)
		}
	}
	f := at("ask")
	f.State, f.Choices, f.Preferences.Autonomy = snapshot.At("ask", nil, []string{"plan"}), taken, mode
	var err error
	if f.Context, err = canon.Parse([]byte(before)); err != nil {
		t.Fatal(err)
	}
	delta, err := canon.Parse([]byte(given))
	if err != nil {
		t.Fatal(err)
	}
	d, err := advance.Decide(w, f, advance.Attempt{ID: id.NextAttempt(root, id.OpAck, 0), Request: advance.Request{Context: delta},
		Actor: agent, AtMs: 99})
	if err != nil {
		t.Fatal(err)
	}
	return d.Events[0].Data.(event.AdvanceRecorded).Outcome
}

// TestChoices: which values of an input complete a step, and what a refusal says.
func TestChoices(t *testing.T) {
	from := source.ChoicesFrom{Step: "plan", Pointer: "/targets"}
	result, err := canon.Parse([]byte(`{"targets": ["north", 3, true, "\u001b[2J\n"]}`))
	if err != nil {
		t.Fatal(err)
	}
	taken := map[string]choices.List{"target": choices.Of(result, from)}
	none := map[string]choices.List{"target": choices.Of(canon.OfMembers(), from)}
	const shown = `"north", 3, true, "\u001b[2J\n"`
	const ask = `Ask the person, then send it as context: {"target": VALUE}, or --set target=VALUE.`
	for name, row := range map[string]struct {
		input, more   string
		taken         map[string]choices.List
		before, given string
		message, fix  string // of the blocker; "" advances
	}{
		"fixed, missing, form 1": {fixedInput, pinned, nil, `{}`, `{}`, `The input "target" is not set: where to`, ask + " One of: a, b."},
		"fixed, missing":         {fixedInput, "", nil, `{}`, `{}`, `The input "target" is not set: where to`, ask + " One of: a, b."},
		"fixed":                  {fixedInput, "", nil, `{}`, `{"target":"b"}`, "", ""},
		"fixed, other, form 1":   {fixedInput, pinned, nil, `{}`, `{"target":"c"}`, "", ""},
		"fixed, other": {fixedInput, "", nil, `{}`, `{"target":"c"}`, `The input "target" is "c", which is none of its choices: "a", "b".`,
			ask + ` One of: "a", "b".`},
		"fixed, other before":    {fixedInput, "", nil, `{"target":"c"}`, `{}`, `is "c", which is none`, "One of"},
		"fixed, corrected":       {fixedInput, "", nil, `{"target":"c"}`, `{"target":"a"}`, "", ""},
		"taken, missing":         {takenInput, "", taken, `{}`, `{}`, `The input "target" is not set: where to`, ask + " One of: " + shown + "."},
		"taken, removed":         {takenInput, "", taken, `{"target":"north"}`, `{"target":null}`, `is not set`, "One of"},
		"taken, text":            {takenInput, "", taken, `{}`, `{"target":"north"}`, "", ""},
		"taken, number":          {takenInput, "", taken, `{}`, `{"target":3}`, "", ""},
		"taken, number as text":  {takenInput, "", taken, `{}`, `{"target":"3"}`, "", ""},
		"taken, boolean":         {takenInput, "", taken, `{}`, `{"target":true}`, "", ""},
		"taken, other":           {takenInput, "", taken, `{}`, `{"target":"\u202eb"}`, `The input "target" is "\u202eb", which is none of its choices: ` + shown + ".", ask + " One of: " + shown + "."},
		"taken, list":            {takenInput, "", taken, `{}`, `{"target":["north"]}`, `is ["north"], which is none`, "One of"},
		"taken, before":          {takenInput, "", taken, `{"target":"south"}`, `{}`, `is "south", which is none`, "One of"},
		"no list":                {takenInput, "", none, `{}`, `{}`, `The input "target" has no choices: the result of step "plan" has no usable list at "/targets": it is absent`, `Go back to step "plan"`},
		"no list, with a value":  {takenInput, "", none, `{}`, `{"target":"north"}`, `has no choices: the result of step "plan"`, "Go back"},
		"list that was not read": {takenInput, "", nil, `{}`, `{"target":"north"}`, `it was not read`, "Go back"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, mode := range []event.Autonomy{event.Guided, event.FullAutoStopOnUserDeps} {
				o := decideInput(t, row.input, row.more, row.taken, mode, row.before, row.given)
				if row.message == "" {
					if o.Kind != event.Advanced {
						t.Errorf("%+v", o.Blockers)
					}
					continue
				}
				if o.Kind != event.Blocked || len(o.Blockers.Blockers) != 1 {
					t.Fatalf("%+v", o)
				}
				b := o.Blockers.Blockers[0]
				if !strings.Contains(b.Message, row.message) || !strings.Contains(b.SuggestedFix, row.fix) || b.Code != reason.BlockerUserOnly ||
					b.Pointer != reason.ContextKey("target") {
					t.Errorf("%+v", b)
				}
			}
			if o := decideInput(t, row.input, row.more, row.taken, event.FullAutoNeverStop, row.before, row.given); o.Kind != event.Advanced {
				t.Errorf("never-stop: %+v", o.Blockers)
			}
		})
	}
}

// TestChoicesAreBounded: a refusal names the first of many long choices within the budgets of a
// blocker, and cuts no sentence.
func TestChoicesAreBounded(t *testing.T) {
	var items []canon.Value
	for i := range limits.ChoicesMax {
		items = append(items, canon.OfString(strings.Repeat("\u202e", 80)+string(rune('a'+i%26))+string(canon.OfInt(int64(i)).JCS())))
	}
	taken := map[string]choices.List{"target": choices.Of(canon.OfList(items...), source.ChoicesFrom{Step: "plan"})}
	o := decideInput(t, takenInput, "", taken, event.Guided, `{}`, `{"target":"`+strings.Repeat("é", 200)+`"}`)
	b := o.Blockers.Blockers[0]
	if !strings.HasSuffix(b.Message, "1000 choices.") || !strings.HasSuffix(b.SuggestedFix, " more.") && !strings.HasSuffix(b.SuggestedFix, " choices.") {
		t.Errorf("%q, %q", b.Message, b.SuggestedFix)
	}
}
