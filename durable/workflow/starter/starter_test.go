package starter_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/durable/workflow/starter"
)

// shows says what a template contains, as its description mentions it.
var shows = map[string]func(w compile.Compiled) bool{
	"steps": func(w compile.Compiled) bool {
		return w.Steps[0].NotesRequired && !w.Steps[1].RunCondition.IsNull() && w.Steps[2].RequireConfirmation.Kind == compile.ConfirmAlways
	},
	"code": func(w compile.Compiled) bool { return len(w.Checks()) == 1 && w.HasActions() && approves(w) },
	"release": func(w compile.Compiled) bool {
		return w.Steps[0].Action != nil && len(w.Steps[1].Outputs) == 1 && w.Steps[len(w.Steps)-1].Action != nil && approves(w)
	},
	"incident": func(w compile.Compiled) bool { return loopOf(w).Kind == compile.Until && approves(w) },
	"review": func(w compile.Compiled) bool {
		return loopOf(w).Control.Kind == compile.ByArtifact && len(w.Checks()) == 1
	},
	"loop": func(w compile.Compiled) bool { return loopOf(w).Kind == compile.ForEach },
}

// approves reports a step that requires an approval.
func approves(w compile.Compiled) bool {
	for _, s := range w.Steps {
		if s.RequireConfirmation.Kind == compile.ConfirmApproval {
			return true
		}
	}
	return false
}

// loopOf is the only loop of a workflow.
func loopOf(w compile.Compiled) compile.Loop { return append(w.Loops, compile.Loop{})[0] }

// TestTemplates: each template is a workflow without problems, with the constructs that its description mentions,
// as YAML and as JSON.
func TestTemplates(t *testing.T) {
	for _, template := range starter.Templates {
		name := "Mine \"quoted\" \\ ünï: #"
		text := template.File("user.mine", name)
		src, w, found := compile.File("x.yaml", source.SourceUser, text)
		if len(found) > 0 || src.ID != "user.mine" || src.Name != name {
			t.Errorf("%s: %v\n%s", template.Name, found, text)
			continue
		}
		if show := shows[template.Name]; show == nil || !show(w) {
			t.Errorf("%s lacks a construct that its description mentions", template.Name)
		}
		asJSON, err := template.JSON("user.mine", name)
		_, same, found := compile.File("x.json", source.SourceUser, asJSON)
		if err != nil || !json.Valid(asJSON) || len(found) > 0 || same.Hash() != w.Hash() {
			t.Errorf("%s as JSON: %v %v", template.Name, err, found)
		}
		if got, ok := starter.Of(template.Name); !ok || got != template {
			t.Error(template.Name)
		}
		if !strings.Contains(starter.Names(), template.Name) || !strings.Contains(string(template.Tests()), "\ncases:\n") {
			t.Error(template.Name)
		}
	}
	if _, ok := starter.Of("none"); ok {
		t.Error("a template named none")
	}
}
