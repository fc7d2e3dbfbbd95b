package compile

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/workflow/source"
)

// TestWaits: a wait is a member of the compiled step and no command, so that a workflow of waits
// needs no trust; a document with a wait that cannot be performed is refused.
func TestWaits(t *testing.T) {
	c := compiled(t, "", `{"id": "w", "title": "W", "action": {"kind": "wait", "for": "1h"}},
		{"id": "u", "title": "U", "action": {"kind": "wait", "until": "{{at}}"}}`)
	w, _ := c.Step("w")
	u, _ := c.Step("u")
	if c.HasActions() || w.Action != nil || w.Wait == nil || w.Wait.For != "1h" || u.Wait.Placeholder() != "at" {
		t.Fatalf("%+v, %+v, commands %v", w.Wait, u.Wait, c.HasActions())
	}
	good := string(c.Bytes())
	if again, err := Decode([]byte(good)); err != nil || again.Hash() != c.Hash() {
		t.Fatal(err)
	}
	for _, row := range []struct{ old, new, words string }{
		{`"wait":{"for":"1h"}`, `"wait":{}`, "a moment"},
		{`"wait":{"for":"1h"}`, `"wait":{"for":"1h","until":"2026-12-01T09:00:00Z"}`, "a moment"},
		{`"wait":{"for":"1h"}`, `"wait":{"for":"1y"}`, "a moment"},
		{`"wait":{"for":"1h"}`, `"wait":{"for":"9999d"}`, "a moment"},
		{`"wait":{"for":"1h"}`, `"wait":{"until":"x{{at}}"}`, "a moment"},
		{`"wait":{"for":"1h"}`, `"wait":{"until":"{{` + strings.Repeat("a", 300) + `}}"}`, "more than 128"},
		{`"wait":{"for":"1h"}`, `"wait":{"for":"1h","sleep":1}`, "sleep"},
		{`"schemaVersion":2`, `"schemaVersion":1`, "in a form that has none"},
		{`"stepId":"w"`, `"notesRequired":true,"stepId":"w"`, "a wait beside"},
		{`"prompt":""`, `"action":{"argv":["x"],"kind":"command"},"prompt":""`, "a wait beside"},
		{`"prompt":""`, `"action":{"argv":["x"],"kind":"wait"},"prompt":""`, "not a command"},
		{`"requireConfirmation":{"kind":"never"}`, `"requireConfirmation":{"kind":"always"}`, "a wait beside"},
	} {
		forged := strings.Replace(good, row.old, row.new, 1)
		if row.old == `"stepId":"w"` {
			forged = strings.Replace(good, `"prompt":""`, `"notesRequired":true,"prompt":""`, 1)
		}
		if forged == good {
			t.Fatalf("%s changes nothing in %s", row.new, good)
		}
		if _, err := Decode([]byte(forged)); err == nil || !strings.Contains(err.Error(), row.words) {
			t.Errorf("%s: %v", row.new, err)
		}
	}
}

// TestWaitOfRoutine: a confirmation of the call cannot be one of a wait.
func TestWaitOfRoutine(t *testing.T) {
	routine := `{"id": "demo.routine-r", "name": "R", "description": "d", "version": "1.0.0", "steps": [
		{"id": "w", "title": "W", "action": {"kind": "wait", "for": "1h"}}]}`
	for call, words := range map[string]string{"": "", `, "requireConfirmation": true`: "cannot be confirmed"} {
		src, found := source.Parse("r.json", source.SourceProject, []byte(routine))
		if !src.Valid {
			t.Fatal(found)
		}
		_, _, found = FileWith("x.json", source.SourceProject, sourceText("", `{"id": "c", "title": "T",
			"templateCall": {"templateId": "wr.templates.routine.r"}`+call+`}`),
			Library{Routines: []Routines{{"demo.routine-r": src, "routine-r": src}}})
		if (words == "") != (len(found) == 0) || words != "" && !strings.Contains(found[0].Message, words) {
			t.Errorf("%s: %v", call, found)
		}
	}
}
