package wire_test

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/ports/porttest/openwoptest"
	"github.com/waybill/waybill/projections/wire"
)

// TestDefinition: a definition has a node for each step, also of loops, an edge between steps that follow each other, each
// declared input once, and no prompt.
func TestDefinition(t *testing.T) {
	_, w, problems := compile.File("w.json", source.SourceProject, []byte(`{"id":"wire-test","name":"W","description":"d",
		"version":"1.2.3","inputs":[{"contextKey":"who","reason":"needs_user_choice","choiceKind":"scope_boundary","choices":["a","b"],"description":"Who"}],
		"steps":[{"id":"one","title":"One","prompt":"secret words"},
		{"id":"each","type":"loop","title":"L","loop":{"type":"for","count":2,"maxIterations":3},"body":[{"id":"in","title":"In","prompt":"p"},{"id":"out","title":"Out","prompt":"p"}]},
		{"id":"two","title":"Two","action":{"kind":"command","argv":["true"]}}]}`))
	if source.HasErrors(problems) {
		t.Fatal(problems)
	}
	got := string(wire.Definition(w).JCS())
	for _, want := range []string{
		`"edges":[{"id":"one->each","sourceNodeId":"one","targetNodeId":"each"},` +
			`{"id":"in->out","sourceNodeId":"in","targetNodeId":"out"},{"id":"each->two","sourceNodeId":"each","targetNodeId":"two"}]`,
		`{"config":{},"id":"out","inputs":{},"name":"Out","position":{"x":0,"y":3},"typeId":"waybill.step"}`,
		`"name":"Two","position":{"x":0,"y":4},"typeId":"waybill.command"}]`,
		`"configurableSchema":{"additionalProperties":false,"properties":{`, `"who":{"enum":["a","b"]}`,
		`"variables":[{"description":"Who","name":"who","required":true,"type":"string"}],"version":"1.2.3"`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if strings.Contains(got, "secret words") {
		t.Error("a prompt is in the definition")
	}
	if err := openwoptest.Published(t).Check("workflow-definition", []byte(got)); err != nil {
		t.Error(err)
	}
}
