package problem

import (
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
)

func TestPlaces(t *testing.T) {
	v, err := canon.Parse([]byte("{\"a/b\": [\n10,\n{\"c~\": 20}]}"))
	if err != nil {
		t.Fatal(err)
	}
	root := SourceValue{Value: v}
	list := root.Member("a/b")
	deep := list.Item(1).Member("c~")
	if list.Pointer != "/a~1b" || deep.Pointer != "/a~1b/1/c~0" || deep.Value.Line() != 3 || deep.Value.Float() != 20 {
		t.Errorf("got %q and %q on line %d", list.Pointer, deep.Pointer, deep.Value.Line())
	}
	if items := list.Items(); len(items) != 2 || items[0].Pointer != "/a~1b/0" {
		t.Errorf("items are %v", items)
	}
	if names := root.Names(); !slices.Equal(names, []string{"a/b"}) || list.Names() != nil {
		t.Errorf("names are %q", names)
	}
	if root.Items() != nil {
		t.Error("an object has items")
	}
	if !root.Has("a/b") || root.Has("a") || list.Has("0") {
		t.Error("Has finds an absent member, or does not find a present one")
	}
	// An absent member has the line of its object, where it would have to be added.
	if absent := list.Item(1).Member("gone"); !absent.Value.IsNull() || absent.Value.Line() != 3 {
		t.Errorf("an absent member is %v on line %d", absent.Value, absent.Value.Line())
	}
}

func TestReports(t *testing.T) {
	var found []Problem
	report := Report(func(p Problem) { found = append(found, p) })
	at := SourceValue{Value: canon.OfInt(1).AtLine(7), Pointer: "/x"}
	report.Warn(at, "fix w", "w %d", 1)
	if HasErrors(found) || HasErrors(nil) {
		t.Error("a warning is no error")
	}
	report.Error(at, "fix e", "e %d", 2)
	report.Error(SourceValue{Value: canon.OfInt(1).AtLine(6), Pointer: "/z"}, "", "first")
	report.Error(SourceValue{Value: canon.OfInt(1).AtLine(7), Pointer: "/w"}, "", "before x")
	if !HasErrors(found) {
		t.Error("HasErrors does not find the error")
	}
	if found[1] != (Problem{Pointer: "/x", Line: 7, Severity: Error, Message: "e 2", Fix: "fix e"}) {
		t.Errorf("got %+v", found[1])
	}
	Sort(found)
	var order []string
	for _, p := range found {
		order = append(order, p.Message)
	}
	if !slices.Equal(order, []string{"first", "before x", "e 2", "w 1"}) {
		t.Errorf("the order is %q", order)
	}
}

// TestParser: an error makes the result zero and not valid, a warning does not, and Decode fails
// with the first error.
func TestParser(t *testing.T) {
	var text Parser[string] = func(at SourceValue, report Report) string {
		if !report.Expect(at, canon.String, "Write a name.", "a name is a string") {
			return "discarded"
		}
		if at.Value.Text() == "" {
			report.Warn(at, "", "an empty name")
		}
		return "(" + at.Value.Text() + ")"
	}
	var names Parser[[]string] = func(at SourceValue, report Report) []string { return ParseItems(at, report, text) }
	for _, row := range []struct {
		source, want, problem string
		ok                    bool
	}{
		{`["a", ""]`, "(a) ()", "", true},
		{`["a", 1, null]`, "", "names/1: a name is a string, got number", false},
		{`{"a": "b"}`, "", "", true},
	} {
		v, err := canon.Parse([]byte(row.source))
		if err != nil {
			t.Fatal(err)
		}
		reported := 0
		got, ok := names.Parse(SourceValue{Value: v}, func(Problem) { reported++ })
		if strings.Join(got, " ") != row.want || ok != row.ok || !ok && reported != 2 {
			t.Errorf("%s: %q, %v with %d problems", row.source, got, ok, reported)
		}
		if _, err := names.Decode("names", v); (err == nil) != ok || err != nil && err.Error() != row.problem {
			t.Errorf("%s: %v", row.source, err)
		}
	}
}
