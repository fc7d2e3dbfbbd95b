package contract

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
)

func TestBuiltinContracts(t *testing.T) {
	want := []string{"assessment", "capability_observation", "coding_handoff", "coordinator_signal",
		"differentiation_handoff", "discovery_handoff",
		"gate_verdict", "loop_control", "review_verdict", "shaping_handoff"}
	refs := Refs()
	if len(refs) != len(want) {
		t.Fatalf("contracts %v", refs)
	}
	for i, ref := range refs {
		p, ok := Builtin(ref)
		if !ok || p.ContractRef != ref || ref != "wr.contracts."+want[i] || p.ArtifactKind != "wr."+want[i] {
			t.Errorf("%s: %v", ref, p)
		}
		if err := p.Validate(); err != nil {
			t.Error(err)
		}
	}
	if _, ok := Builtin("wr.contracts.nothing"); ok {
		t.Error("a contract that does not exist is found")
	}
}

// TestPackRoundTrip: a pack in a pinned workflow decodes and encodes to the same bytes.
func TestPackRoundTrip(t *testing.T) {
	for _, ref := range Refs() {
		p, _ := Builtin(ref)
		data, err := canon.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var again Pack
		if err := canon.UnmarshalExact(data, &again); err != nil {
			t.Fatalf("%s: %v", ref, err)
		}
		if err := again.Validate(); err != nil {
			t.Error(err)
		}
		if mismatchLines(again.Check(canon.OfMembers())) != mismatchLines(p.Check(canon.OfMembers())) {
			t.Errorf("%s gives other results after it was decoded", ref)
		}
	}
}

// TestEveryFieldIsChecked removes and replaces each member of an artifact that has all members
// of its pack.
func TestEveryFieldIsChecked(t *testing.T) {
	for _, ref := range Refs() {
		p, _ := Builtin(ref)
		full := fullest(&p.Shape).With("kind", canon.OfString(p.ArtifactKind))
		if wrong := p.Check(full); len(wrong) > 0 {
			t.Fatalf("%s: the fullest artifact: %s", ref, mismatchLines(wrong))
		}
		eachField(&p.Shape, "", func(at string, f Field) {
			missing := p.Check(change(full, at, nil))
			needed := at
			if slices.Contains(p.Shape.ExactlyOne, f.Name) {
				needed = "" // the mismatch of the whole artifact names the missing member
			}
			if asked := f.Required || needed == ""; asked != (len(missing) == 1) || asked &&
				missing[0].Pointer != needed {
				t.Errorf("%s without %s: %s", ref, at, mismatchLines(missing))
			}
			for _, other := range []canon.Value{{}, canon.OfBool(true), canon.OfInt(-7), canon.OfString(""),
				canon.OfList(canon.OfBool(true)), canon.OfMembers()} {
				if fitsAlone(&f.Shape, other) {
					continue
				}
				wrong := p.Check(change(full, at, &other))
				if len(wrong) == 0 ||
					!slices.ContainsFunc(wrong, func(m Mismatch) bool { return strings.HasPrefix(m.Pointer, at) }) {
					t.Errorf("%s with %s %s: %s", ref, at, other.JCS(), mismatchLines(wrong))
				}
			}
			if f.Shape.Type == Object && !f.Shape.Open {
				extra := p.Check(change(full, at+"/zzzz", ptr(canon.OfInt(1))))
				if len(extra) != 1 || extra[0].Pointer != at+"/zzzz" {
					t.Errorf("%s with one member more in %s: %s", ref, at, mismatchLines(extra))
				}
			}
		})
		if extra := p.Check(full.With("zzzz", canon.OfInt(1))); len(extra) != 1 || extra[0].Pointer != "/zzzz" {
			t.Errorf("%s with one member more: %s", ref, mismatchLines(extra))
		}
	}
}

var update = flag.Bool("update", false, "write the golden file again")

// TestGoldenFields compares the fields of all packs with a golden file: a change that rejects
// an artifact which used to pass shows in its diff.
func TestGoldenFields(t *testing.T) {
	const file = "testdata/fields.txt"
	var out strings.Builder
	for _, ref := range Refs() {
		p, _ := Builtin(ref)
		out.WriteString(p.ContractRef + " " + p.ArtifactKind + "\n")
		for _, line := range memberLines(&p.Shape, spelledOut) {
			out.WriteString("  " + line + "\n")
		}
		eachField(&p.Shape, "", func(at string, f Field) {
			if f.Shape.Open || f.Shape.Items != nil && f.Shape.Items.Open {
				out.WriteString("  further members are kept in " + at + "\n")
			}
		})
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || out.String() != string(want) {
		t.Errorf("%s differs (%v); got:\n%s", file, err, out.String())
	}
}

func ptr[T any](v T) *T { return &v }

func fitsAlone(s *Shape, v canon.Value) bool {
	var c checker
	c.value(problem.SourceValue{Value: v}, s)
	return len(c.found) == 0
}

// fullest returns a value with every field, each list with one item.
func fullest(s *Shape) canon.Value {
	switch {
	case len(s.AnyOf) > 0:
		return fullest(&s.AnyOf[len(s.AnyOf)-1])
	case !s.Const.IsNull():
		return s.Const
	case len(s.Enum) > 0:
		return canon.OfString(s.Enum[0])
	}
	switch s.Type {
	case Text:
		switch s.Format {
		case DateTime, Date:
			return canon.OfString("2026-01-31T09:30:00Z")
		case UUID:
			return canon.OfString("123e4567-e89b-12d3-a456-426614174000")
		}
		return canon.OfString(strings.Repeat("x", max(s.MinChars, 1)))
	case Integer, Number:
		return canon.OfInt(3)
	case Array:
		return canon.OfList(fullest(s.Items))
	case Map:
		return canon.OfMembers(canon.Member{Name: "name", Value: fullest(s.Items)})
	}
	out := canon.OfMembers()
	for i := range s.Fields {
		if name := s.Fields[i].Name; len(s.ExactlyOne) == 0 || name == s.ExactlyOne[0] ||
			!slices.Contains(s.ExactlyOne, name) {
			out = out.With(name, fullest(&s.Fields[i].Shape))
		}
	}
	return out
}

// eachField calls visit for the fields of s and of nested shapes, with pointers into fullest.
func eachField(s *Shape, at string, visit func(at string, f Field)) {
	for _, f := range s.Fields {
		if len(s.ExactlyOne) == 0 || f.Name != s.ExactlyOne[len(s.ExactlyOne)-1] {
			visit(at+"/"+f.Name, f)
			eachField(&f.Shape, at+"/"+f.Name, visit)
		}
	}
	if s.Items != nil && s.Type == Array {
		eachField(s.Items, at+"/0", visit)
	}
	if s.Items != nil && s.Type == Map {
		eachField(s.Items, at+"/name", visit)
	}
	if len(s.AnyOf) > 0 {
		eachField(&s.AnyOf[len(s.AnyOf)-1], at, visit)
	}
}

// change sets the member at a pointer, or removes it if to is nil.
func change(v canon.Value, at string, to *canon.Value) canon.Value {
	name, rest, deeper := strings.Cut(at[1:], "/")
	if v.Kind() == canon.Array {
		return canon.OfList(change(v.Item(0), "/"+rest, to))
	}
	if deeper {
		inner, _ := v.Get(name)
		return v.With(name, change(inner, "/"+rest, to))
	}
	if to == nil {
		return v.Without(name)
	}
	return v.With(name, *to)
}

func TestRequirementsFitAPrompt(t *testing.T) {
	for _, ref := range Refs() {
		p, _ := Builtin(ref)
		lines := p.Requirements()
		if size := len(strings.Join(lines, "\n")); size > requirementsBytesMax {
			t.Errorf("%s: %d bytes", ref, size)
		}
		if lines[0] != "Artifact contract: "+ref || lines[1] != `kind: "`+p.ArtifactKind+`"` {
			t.Errorf("%s: %q", ref, lines[:2])
		}
		shown, ok := strings.CutPrefix(lines[len(lines)-1], "Example: ")
		if !ok || len(p.Check(parse(t, shown))) > 0 {
			t.Errorf("%s: the example line is %s", ref, lines[len(lines)-1])
		}
		text := strings.Join(lines[2:len(lines)-1], "\n")
		eachField(&p.Shape, "", func(at string, f Field) {
			if strings.Count(at, "/") == 1 && !strings.Contains(text, f.Name+":") &&
				!strings.Contains(text, f.Name+" (optional):") {
				t.Errorf("the requirements of %s lack %s", ref, f.Name)
			}
			for _, word := range f.Shape.Enum {
				if !strings.Contains(text, `"`+word+`"`) {
					t.Errorf("the requirements of %s lack %s for %s", ref, word, at)
				}
			}
		})
	}
}

func TestRequirementsAreBounded(t *testing.T) {
	p := pack(t, "loop_control")
	for _, name := range []string{"a", "b"} {
		for i := range 26 {
			for j := range 10 {
				p.Shape.Fields = append(p.Shape.Fields, must(name+strings.Repeat(string(rune('a'+i)), j+1),
					text(1, 200)))
			}
		}
	}
	p.Shape = object(slices.Clone(p.Shape.Fields)...)
	if text := strings.Join(p.Requirements(), "\n"); len(text) > requirementsBytesMax ||
		!strings.Contains(text, "524 members, of which required: a") {
		t.Errorf("%d bytes: %s", len(text), text)
	}
}

func TestRequirementsOfLoopControl(t *testing.T) {
	want := `Artifact contract: wr.contracts.loop_control
kind: "wr.loop_control"
decision: one of "continue", "stop". Whether there is another iteration
loopId (optional): text of 1 to 64 characters that matches ^[a-z0-9_-]+$. The loop that is meant, where that could be in doubt
metadata (optional): an object with confidence? (a number from 0 to 100), issuesFound? (a whole number of at least 0), iterationIndex? (a whole number of at least 0), reason? (text of at most 1024 characters). Anything else about the decision
summary (optional): text of at most 1024 characters. Why, for whoever reads the run later
Example: {"decision":"stop","kind":"wr.loop_control","summary":"Two rounds in a row found nothing new"}`
	if got := strings.Join(pack(t, "loop_control").Requirements(), "\n"); got != want {
		t.Errorf("got:\n%s", got)
	}
}
