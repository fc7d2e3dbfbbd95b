package compile_test

import (
	"slices"
	"testing"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/workflow/compile"
)

const foreignPinned = `{"schemaVersion":1,"sourceKind":"v1_pinned","workflowId":"tea","name":"Make tea","version":"1","definition":{"id":"tea","steps":[
 {"id":"boil","title":"Boil"},
 {"id":"pot","title":"Pot","type":"loop","body":[{"id":"add","title":"Add"},{"id":"inner","type":"loop","body":[{"id":"stir","title":"Stir"}]}]},
 {"id":"named","title":"Named","type":"loop","body":"sip"},
 {"id":"sip","title":"Sip"},
 {"title":"no id"},
 {"id":"bare"}]}}`

func TestDecodeForeign(t *testing.T) {
	if _, err := compile.Decode([]byte(foreignPinned)); !fault.Is(err, fault.StoreForeign) {
		t.Fatalf("accepted for running: %v", err)
	}
	v, err := compile.DecodeForeign([]byte(foreignPinned))
	if err != nil || v.Name() != "Make tea" || v.Total() != 0 {
		t.Fatalf("%q of %d, %v", v.Name(), v.Total(), err)
	}
	want := []compile.StepView{{StepID: "boil", Title: "Boil"}, {StepID: "pot", Title: "Pot"},
		{StepID: "named", Title: "Named"}, {StepID: "bare", Title: "bare"}}
	if !slices.Equal(v.Steps(), want) {
		t.Errorf("steps %+v", v.Steps())
	}
	for step, title := range map[string]string{"boil": "Boil", "add": "Add", "stir": "Stir", "sip": "Sip",
		"inner": "inner", "bare": "bare", "gone": "gone"} {
		if v.Title(step) != title {
			t.Errorf("%s is called %q", step, v.Title(step))
		}
	}
	preview, err := compile.DecodeForeign(
		[]byte(`{"sourceKind":"v1_preview","name":"P","preview":{"stepId":"a","title":"A"}}`))
	if err != nil || preview.Name() != "P" || preview.Title("a") != "A" || len(preview.Steps()) != 0 {
		t.Errorf("%+v, %v", preview, err)
	}
	if _, err := compile.DecodeForeign([]byte(`{"sourceKind":"v9"}`)); !fault.Is(err, fault.StoreForeign) {
		t.Error(err)
	}
	if _, err := compile.DecodeForeign([]byte(`{`)); !fault.Is(err, fault.StoreCorrupt) {
		t.Error(err)
	}
	var zero compile.View
	if zero.Name() != "" || zero.Total() != 0 || zero.Title("a") != "a" {
		t.Errorf("%+v", zero)
	}
}
