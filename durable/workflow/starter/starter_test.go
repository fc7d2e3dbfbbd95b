package starter_test

import (
	"encoding/json"
	"testing"

	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/durable/workflow/starter"
)

// TestTemplates: each template is a workflow without problems, with the constructs that its description mentions.
func TestTemplates(t *testing.T) {
	for _, template := range starter.Templates {
		text := template.File("user.mine", "Mine \"quoted\" \\ ünï")
		src, w, found := compile.File("x.json", source.SourceUser, text)
		if len(found) > 0 || src.ID != "user.mine" || src.Name != "Mine \"quoted\" \\ ünï" || !json.Valid(text) {
			t.Errorf("%s: %v\n%s", template.Name, found, text)
		}
		switch template.Name {
		case "steps":
			if !src.Steps[0].NotesRequired || src.Steps[1].RunCondition.IsNull() || !src.Steps[2].RequireConfirmation.True() {
				t.Error("steps lacks a construct that its description mentions")
			}
		case "code":
			if len(w.Checks()) != 1 || !w.HasActions() || w.Steps[2].RequireConfirmation.Kind != "human_approval" {
				t.Error("code lacks a construct that its description mentions")
			}
		}
		if got, ok := starter.Of(template.Name); !ok || got != template {
			t.Error(template.Name)
		}
	}
	if _, ok := starter.Of("none"); ok {
		t.Error("a template named none")
	}
}
