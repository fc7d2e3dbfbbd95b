package diff_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/projections/diff"
)

// path builds a path from words "key:outcome:notes:artifacts:context"; parts at the end may be left out. Artifacts are
// letters, and the context is one number.
func path(words string) (out []diff.Node) {
	for i, word := range strings.Fields(words) {
		f := append(strings.Split(word, ":"), "", "", "", "")
		n := diff.Node{StepInstanceKey: f[0], Title: f[0], Position: i + 1, Outcome: diff.Done, Context: canon.OfMembers()}
		if f[1] != "" {
			n.Outcome = diff.Outcome(f[1])
		}
		if f[2] != "" {
			n.NotesDigest = canon.Sum([]byte(f[2]))
		}
		for _, artifact := range f[3] {
			n.Outputs = append(n.Outputs, diff.Output{ArtifactKind: "k", SHA256: canon.Sum([]byte(string(artifact)))})
		}
		if f[4] != "" {
			n.Context = n.Context.With("c", canon.OfString(f[4]))
		}
		out = append(out, n)
	}
	return out
}

// inWords formats the result of Compare: "first.what@position" and the differing steps with their facts.
func inWords(first *diff.First, steps []diff.Step) string {
	out := "none"
	if first != nil {
		out = fmt.Sprintf("%s.%s@%d", first.StepInstanceKey, first.What, first.Position)
	}
	for _, s := range steps {
		out += fmt.Sprintf(" %s%v", s.StepInstanceKey, s.Differs)
		switch {
		case s.A == nil:
			out += "B"
		case s.B == nil:
			out += "A"
		}
	}
	return out
}

func TestCompare(t *testing.T) {
	for _, row := range []struct{ a, b, want string }{
		{"a b", "a b", "none"},
		{"", "", "none"},
		{"a b::n", "a b::m", "b.outputs@2 b[outputs]"},
		{"a b:::xy", "a b:::yx", "none"},
		{"a b:::x", "a b:::xx", "b.outputs@2 b[outputs]"},
		{"a b c", "a b:pending", "b.outcome@2 b[outcome] c[step]A"},
		{"a b", "a b c", "c.step@3 c[step]B"},
		{"a x c", "a y c", "x.step@2 x[step]A y[step]B c[]"},
		{"a c", "a b c", "c.step@2 b[step]B c[]"},
		{"a c", "a b c::n", "c.step@2 b[step]B c[outputs]"},
		{"x y z", "y x q z", "x.step@1 x[step] y[step] q[step]B"},
		{"a b c", "a c b", "b.step@2 b[step] c[step]"},
		{"a::::1 b::::1", "a::::2 b::::2", "a.context@1 a[context]"},
		{"a::::1 b::::2", "a::::1 b::::3", "b.context@2 b[context]"},
		{"a::::1 b::::1", "a::::2 b::::3", "a.context@1 a[context] b[context]"},
		{"a::::1 b::::1 c::::1", "a::::2 b::::1 c::::2", "a.context@1 a[context] c[context]"},
		{"a::n:x:1", "a:pending:m:y:2", "a.outcome@1 a[outcome outputs context]"},
	} {
		want := strings.ReplaceAll(row.want, " c[]", "") // a step that both have, with nothing different
		if got := inWords(diff.Compare(path(row.a), path(row.b))); got != want {
			t.Errorf("%q, %q: %s, want %s", row.a, row.b, got, want)
		}
	}
}

// TestEndOfRun: the end has no step; where one run has ended and the other has not, the step of the other is named.
func TestEndOfRun(t *testing.T) {
	a, b := path("a x"), path("a b")
	a[1].StepInstanceKey, a[1].Outcome = "", diff.Complete
	for _, first := range []func() (*diff.First, []diff.Step){
		func() (*diff.First, []diff.Step) { return diff.Compare(a, b) },
		func() (*diff.First, []diff.Step) { return diff.Compare(b, a) },
	} {
		if f, _ := first(); f.StepInstanceKey != "b" || f.What != diff.OfStep {
			t.Errorf("%+v", f)
		}
	}
}

// TestNullIsNoAbsence: a key with the value null differs from no key.
func TestNullIsNoAbsence(t *testing.T) {
	a, b := path("a"), path("a")
	b[0].Context = b[0].Context.With("c", canon.Value{})
	if got := inWords(diff.Compare(a, b)); got != "a.context@1 a[context]" {
		t.Error(got)
	}
}

// TestResultsAreComparedWithoutTimes: Compared counts instead of the digest of the bytes.
func TestResultsAreComparedWithoutTimes(t *testing.T) {
	a, b := path("a:::x"), path("a:::y")
	a[0].Outputs[0].Compared, b[0].Outputs[0].Compared = canon.Sum(nil), canon.Sum(nil)
	if first, steps := diff.Compare(a, b); first != nil || len(steps) > 0 {
		t.Errorf("%+v %+v", first, steps)
	}
	b[0].Outputs[0].ArtifactKind = "other"
	if first, _ := diff.Compare(a, b); first == nil {
		t.Error("another kind is no difference")
	}
}

// TestCompareLaws compares Compare with its definition on random paths: the first difference is at the first position where
// one of the four facts differs; there are steps exactly if there is one; and for
// steps in one order, the order of the runs changes only the sides.
func TestCompareLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sorted := rapid.Bool().Draw(t, "sorted")
		random := func(name string) []diff.Node {
			keys := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}), 0, 5, rapid.ID[string]).Draw(t, name)
			if sorted {
				slices.Sort(keys)
			}
			word := func(n int) string { return rapid.SampledFrom([]string{"", "x", "y"}[:n]).Draw(t, "w") }
			var words []string
			for _, key := range keys {
				outcome := rapid.SampledFrom([]string{"", "", "pending"}).Draw(t, "o")
				words = append(words, strings.Join([]string{key, outcome, word(2), word(2), word(3)}, ":"))
			}
			return path(strings.Join(words, " "))
		}
		a, b := random("a"), random("b")
		if rapid.Bool().Draw(t, "same") {
			b = slices.Clone(a)
		}
		first, steps := diff.Compare(a, b)
		facts := func(p []diff.Node, i int) string {
			if i >= len(p) {
				return ""
			}
			n := p[i]
			return fmt.Sprint(n.StepInstanceKey, n.Outcome, n.NotesDigest, n.Outputs, string(n.Context.JCS()))
		}
		at := 0
		for at < max(len(a), len(b)) && facts(a, at) == facts(b, at) {
			at++
		}
		equal := at == max(len(a), len(b))
		if equal != (first == nil) || equal != (len(steps) == 0) || first != nil && first.Position != at+1 {
			t.Fatalf("position %d: %s", at+1, inWords(first, steps))
		}
		second, others := diff.Compare(b, a)
		if !sorted { // in another order, a value is at another step first
			return
		}
		if first != nil && (second.What != first.What || second.Position != first.Position) || len(others) != len(steps) {
			t.Fatalf("%s, and swapped %s", inWords(first, steps), inWords(second, others))
		}
		for _, s := range steps {
			i := slices.IndexFunc(others, func(o diff.Step) bool { return o.StepInstanceKey == s.StepInstanceKey })
			if i < 0 || !slices.Equal(others[i].Differs, s.Differs) || (others[i].A == nil) != (s.B == nil) {
				t.Fatalf("%s, and swapped %s", inWords(first, steps), inWords(second, others))
			}
		}
	})
}
