package compile

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
)

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestLookups(t *testing.T) {
	c := compiled(t, "", step("a", "")+","+step("b", `, "action": {"kind": "command", "argv": ["x"]}`))
	if s, ok := c.Step("b"); !ok || s.Action.Argv[0] != "x" {
		t.Errorf("step b is %+v", s)
	}
	if _, ok := c.Step("c"); ok {
		t.Error("step c exists")
	}
	if at, of, ok := c.Position("b"); at != 1 || of != 2 || !ok {
		t.Errorf("b is %d of %d", at, of)
	}
	if !c.HasActions() || compiled(t, "", step("a", "")).HasActions() {
		t.Error("HasActions is wrong")
	}
}

// TestInputsOf: the inputs of the workflow come before those of the step, and each key once.
func TestInputsOf(t *testing.T) {
	input := func(key, description string) string {
		return `{"contextKey": "` + key + `", "reason": "needs_user_artifact", "description": "` + description + `"}`
	}
	c := compiled(t, `, "inputs": [`+input("all", "w")+`,`+input("both", "w")+`]`,
		step("a", `, "inputs": [`+input("both", "s")+`,`+input("own.key", "s")+`]`)+","+step("b", ""))
	for i, want := range []string{"all w, both w, own.key s, ", "all w, both w, "} {
		got := ""
		for _, in := range c.InputsOf(c.Steps[i]) {
			got += in.ContextKey + " " + in.Description + ", "
		}
		if got != want {
			t.Errorf("step %d: %q, want %q", i, got, want)
		}
	}
}

func TestDecode(t *testing.T) {
	for _, name := range sources(t, examples) {
		c, _ := compileFile(t, name)
		again, err := Decode(c.Bytes())
		if err != nil || again.Hash() != c.Hash() || string(again.Bytes()) != string(c.Bytes()) {
			t.Errorf("%s: %v", name, err)
		}
		if canon.Sum(c.Bytes()) != c.Hash() {
			t.Errorf("%s: the hash is not the digest of the bytes", name)
		}
		for i, s := range again.Steps {
			if s.Condition().IsZero() != c.Steps[i].Condition().IsZero() || s.Criteria().
				IsZero() != c.Steps[i].Criteria().IsZero() {
				t.Errorf("%s: step %s has no parsed conditions", name, s.StepID)
			}
		}
	}
}

func TestDecodeRejects(t *testing.T) {
	good := string(compiled(t, "",
		step("a", `, "runCondition": {"var": "x", "equals": 1}, "validationCriteria": {"type": "length", "min": 1, "message": "m"}, "requireConfirmation": {"var": "y", "equals": 1}, "action": {"kind": "command", "argv": ["x"]}`)+","+step("b", "")).Bytes())
	if _, err := Decode([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		old, new string
		code     fault.Code
	}{
		{`"schemaVersion":2`, `"schemaVersion":3`, fault.StoreNewer},
		{`"schemaVersion":2`, `"schemaVersion":0`, fault.StoreCorrupt},
		{`"schemaVersion":2`, `"schemaVersion":1.5`, fault.StoreCorrupt},
		{`"loops":[]`, `"loops":[{}]`, fault.StoreCorrupt},
		{`"features":[]`, `"features":["x"]`, fault.StoreCorrupt},
		{`"required":[]`, `"required":["delegation"]`, fault.StoreCorrupt},
		{`"schemaVersion":2`, `"schemaVersion":2,"sourceKind":"v1_pinned"`, fault.StoreForeign},
		{`"schemaVersion":2`, `"schemaVersion":"2"`, fault.StoreCorrupt},
		{`"schemaVersion":2,`, ``, fault.StoreCorrupt},
		{`{"capabilities"`, `{ "capabilities"`, fault.StoreCorrupt},
		{`"name":"One",`, ``, fault.StoreCorrupt},
		{`"name":"One"`, `"name":"One","namf":1`, fault.StoreCorrupt},
		{`"name":"One"`, `"name":1`, fault.StoreCorrupt},
		{`"stepId":"b"`, `"stepId":"a"`, fault.StoreCorrupt},
		{`"stepId":"b"`, `"stepId":"B"`, fault.SessionUnhealthy},
		{`"kind":"condition"`, `"kind":"sometimes"`, fault.StoreCorrupt},
		{`"kind":"condition"`, `"kind":"always"`, fault.StoreCorrupt},
		{`"kind":"never"`, `"kind":"condition"`, fault.StoreCorrupt},
		{`"source":"authored"`, `"source":"invented"`, fault.StoreCorrupt},
		{`"kind":"command"`, `"kind":"commands"`, fault.StoreCorrupt},
		{`"argv":["x"]`, `"argv":[]`, fault.SessionUnhealthy},
		{`{"equals":1,"var":"x"}`, `{"equals":1}`, fault.StoreCorrupt},
		{`{"equals":1,"var":"y"}`, `{}`, fault.StoreCorrupt},
		{`"type":"length"`, `"type":"schema"`, fault.StoreCorrupt},
		{good, `{"steps":[]`, fault.StoreCorrupt},
		{good, ``, fault.StoreCorrupt},
		{good, `null`, fault.StoreCorrupt},
	} {
		bad := strings.Replace(good, row.old, row.new, 1)
		if bad == good {
			t.Fatalf("%s is not in %s", row.old, good)
		}
		_, err := Decode([]byte(bad))
		if fault.CodeOf(err) != row.code {
			t.Errorf("%s for %s: got %v, want %s", row.new, row.old, err, row.code)
		}
	}
}

// TestDecodeBoundsSteps: a decoded document has at least one step and at most as many as a
// source.
func TestDecodeBoundsSteps(t *testing.T) {
	d := compiled(t, "", step("a", "")).Document
	one := d.Steps[0]
	for _, n := range []int{0, 1, limits.WorkflowStepsMax, limits.WorkflowStepsMax + 1} {
		d.Steps = make([]Step, n)
		for i := range d.Steps {
			d.Steps[i] = one
			d.Steps[i].StepID = fmt.Sprint("s", i)
		}
		data, err := canon.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Decode(data); (err == nil) != (n > 0 && n <= limits.WorkflowStepsMax) {
			t.Errorf("%d steps: %v", n, err)
		}
	}
}

// FuzzDecode: nothing panics, and an accepted document encodes to the same bytes.
func FuzzDecode(f *testing.F) {
	f.Add(compiled(f, "", step("a", `, "runCondition": {"var": "x", "equals": 1}`)).Bytes())
	for _, name := range []string{"release-checklist.yaml", "bug-triage.json", "access-request.yaml"} {
		f.Add(readFile(f, examples+"/compiled/"+name+".want"))
	}
	for _, name := range sources(f, constructs) {
		c, _ := compileConstruct(f, name)
		f.Add(c.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Decode(data)
		if err != nil {
			return
		}
		if string(c.Bytes()) != string(data) || c.Hash() != canon.Sum(data) {
			t.Fatalf("accepted as %s", c.Bytes())
		}
	})
}
