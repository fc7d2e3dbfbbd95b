package hoststep_test

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/hoststep"
)

// TestHostStepsOfDocuments: a host step that no file was read of is checked by the same tables.
func TestHostStepsOfDocuments(t *testing.T) {
	config := func(text string) canon.Value {
		v, err := canon.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, row := range []struct {
		step  hoststep.Step
		words string
	}{
		{hoststep.Step{TypeID: "core.noop"}, ""},
		{hoststep.Step{TypeID: "core.delay", Config: config(`{"delayMs": 5}`)}, ""},
		{hoststep.Step{}, "not known"},
		{hoststep.Step{TypeID: "core.shell"}, "not known"},
		{hoststep.Step{TypeID: "core.delay", Config: config(`{"delayMs": 99999}`)}, "from 0 to 60000"},
		{hoststep.Step{TypeID: "core.delay", Config: config(`[]`)}, "the config of"},
		{hoststep.Step{TypeID: "core.fail", Config: config(`{"exec": "sh"}`)}, "exec"},
	} {
		if err := row.step.Check(); (err == nil) != (row.words == "") || err != nil && !strings.Contains(err.Error(), row.words) {
			t.Errorf("%+v: %v", row.step, err)
		}
	}
}
