package trust_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/store/trust"
)

// fixedOf is what the checks of a workflow depend on, with the content of one pin.
func fixedOf(content string) trust.Fixed {
	return trust.Fixed{Env: map[string]string{"PATH": "/bin"}, Pins: map[string]canon.Digest{"run.sh": canon.Sum([]byte(content))},
		Programs: map[string]trust.Program{"sh": {Path: "/bin/sh", SHA256: canon.Sum([]byte("sh"))}}}
}

// TestTrustAgain: a workflow version that is trusted with other pins replaces the entry, with the same it is kept.
func TestTrustAgain(t *testing.T) {
	e := trust.Entry{Root: "/src", WorkflowHash: canon.Sum([]byte("w")), WorkflowID: "test.w", AtMs: 1, Fixed: fixedOf("a")}
	l, err := trust.List{}.With(e)
	if err != nil {
		t.Fatal(err)
	}
	other := e
	other.Root, other.Fixed = "/other", fixedOf("x")
	if l, err = l.With(other); err != nil {
		t.Fatal(err)
	}
	e.AtMs = 2
	if same, err := l.With(e); err != nil || len(same.Entries) != 2 || same.Entries[0].AtMs != 1 {
		t.Errorf("%+v, %v", same, err)
	}
	e.Fixed = fixedOf("b")
	again, err := l.With(e)
	if err != nil || len(again.Entries) != 2 {
		t.Fatalf("%+v, %v", again, err)
	}
	if have, ok := again.Of(e.WorkflowHash, "/src"); !ok || have.AtMs != 2 || !have.Fixed.Equal(e.Fixed) {
		t.Errorf("%+v", have)
	}
	if have, ok := again.Of(e.WorkflowHash, "/other"); !ok || !have.Fixed.Equal(other.Fixed) {
		t.Errorf("the entry of another place: %+v", have)
	}
	data, err := again.Data()
	if err != nil {
		t.Fatal(err)
	}
	if read, err := trust.Read(3, data); err != nil || len(read.Entries) != 2 {
		t.Errorf("%+v, %v", read, err)
	}
	if _, err := trust.Read(2, data); err == nil || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("what is fixed, in version 2: %v", err)
	}
}

// TestTrustRefusesWhatNoTrustRecords: members that no person can have trusted make the file one that is damaged.
func TestTrustRefusesWhatNoTrustRecords(t *testing.T) {
	for name, change := range map[string]func(*trust.Fixed){
		"a name with =":    func(f *trust.Fixed) { f.Env["A=B"] = "" },
		"a value with NUL": func(f *trust.Fixed) { f.Env["A"] = "\x00" },
		"a long value":     func(f *trust.Fixed) { f.Env["A"] = strings.Repeat("x", 40_000) },
		"many variables": func(f *trust.Fixed) {
			for i := range 80 {
				f.Env[fmt.Sprint("A", i)] = ""
			}
		},
		"a pin without path": func(f *trust.Fixed) { f.Pins[""] = canon.Sum(nil) },
		"no digest":          func(f *trust.Fixed) { f.Pins["a"] = canon.Digest{} },
		"no path":            func(f *trust.Fixed) { f.Programs["a"] = trust.Program{SHA256: canon.Sum(nil)} },
	} {
		fixed := fixedOf("a")
		change(&fixed)
		l := trust.List{Entries: []trust.Entry{{Root: "/src", WorkflowHash: canon.Sum(nil), WorkflowID: "w", Fixed: fixed}}}
		data, err := l.Data()
		if err != nil {
			continue // not even JSON
		}
		if _, err := trust.Read(3, data); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestFixedChanges(t *testing.T) {
	before, after := fixedOf("a"), fixedOf("b")
	after.Pins["new.sh"] = canon.Sum(nil)
	after.Programs["sh"] = trust.Program{Path: "/usr/bin/sh", SHA256: canon.Sum([]byte("sh"))}
	delete(after.Env, "PATH")
	var got []string
	for _, c := range after.Changes(before) {
		got = append(got, fmt.Sprintf("%s %s %t %t", c.What, c.Name, c.Old == "", c.New == ""))
	}
	want := "pin new.sh true false; pin run.sh false false; program sh false false; environment PATH false true"
	if strings.Join(got, "; ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "; "), want)
	}
	if len(before.Changes(fixedOf("a"))) > 0 {
		t.Error("the same is a change")
	}
}
