package similar_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/learning/similar"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/workflow/yaml"
)

func parse(t testing.TB, text string) canon.Value {
	t.Helper()
	v, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func percent(a, b canon.Value) int { return similar.SignatureOf(a).Percent(similar.SignatureOf(b)) }

// TestPercent: small artifacts are compared exactly.
func TestPercent(t *testing.T) {
	for _, row := range []struct {
		name, a, b string
		want       int
	}{
		{"nothing", `null`, `[]`, 100},
		{"nothing and something", `null`, `{"a":1}`, 0},
		{"an empty text is nothing", `["", null]`, `[]`, 100},
		{"order of members", `{"a":"x","b":"y"}`, `{"b":"y","a":"x"}`, 100},
		{"order of items", `[1,2,"three"]`, `["three",2,1]`, 100},
		{"case, white space, punctuation", `{"p":"Find  the\nCause, first."}`, `{"p":"find the cause first"}`, 100},
		{"composed of the same letters otherwise", `["caf\u00e9"]`, `["cafe\u0301"]`, 0},
		{"repetitions count once", `["x","x","x","y"]`, `["x","z"]`, 33},
		{"only signs", `{"p":"-->"}`, `{"p":"<--"}`, 33},
		{"another number", `[1]`, `[2]`, 0},
		{"a number is not its text", `{"a":true,"b":1}`, `{"a":false,"b":1}`, 50},
		{"another member's text", `{"a":"one two three four"}`, `{"b":"one two three four"}`, 0},
		{"a title is one shingle", `{"title":"one two three four five"}`, `{"title":"one two three four six"}`, 33},
		// The shape counts 1, each of the shared two shingles 4, each of the other two 4.
		{"sentences overlap", `{"p":"a b c d e f"}`, `{"p":"a b c d e g"}`, 100 * (1 + 8) / (1 + 8 + 8)},
		{"four words are a sentence", `{"p":"a b c d","q":"x"}`, `{"p":"a b c d","q":"y"}`,
			100 * (1 + 4) / (1 + 4 + 2)},
		{"three are not", `{"p":"a b c","q":"x"}`, `{"p":"a b c","q":"y"}`, 100 * (1 + 1) / (1 + 1 + 2)},
		{"words without spaces", `["\u4e00\u4e8c\u4e09\u56db\u4e94"]`, `["\u4e00\u4e8c\u4e09\u56db\u516d"]`, 33},
		{"another name changes the shape", `{"p":"a b c d","q":"x"}`, `{"p":"a b c d"}`, 100 * 4 / (4 + 1 + 1 + 1)},
	} {
		a, b := parse(t, row.a), parse(t, row.b)
		if got := percent(a, b); got != row.want {
			t.Errorf("%s: got %d, want %d", row.name, got, row.want)
		}
	}
}

// artifact returns a workflow of the given number of steps, with words drawn from a
// vocabulary.
func artifact(r *rand.Rand, steps, vocabulary int) []step {
	out := make([]step, steps)
	for i := range out {
		out[i] = step{fmt.Sprintf("step-%d", i), words(r, 3, vocabulary), words(r, 12+r.IntN(20), vocabulary)}
	}
	return out
}

type step struct{ id, title, prompt string }

func words(r *rand.Rand, n, vocabulary int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("w%d", r.IntN(vocabulary))
	}
	return strings.Join(out, " ")
}

func value(id string, steps []step) canon.Value {
	var list []canon.Value
	for _, s := range steps {
		list = append(list, canon.OfMembers(canon.Member{Name: "id", Value: canon.OfString(s.id)},
			canon.Member{Name: "title", Value: canon.OfString(s.title)},
			canon.Member{Name: "prompt", Value: canon.OfString(s.prompt)}))
	}
	return canon.OfMembers(canon.Member{Name: "id", Value: canon.OfString(id)},
		canon.Member{Name: "steps", Value: canon.OfList(list...)})
}

// jaccard computes exactly what Percent estimates: the shingles as texts, with their weights.
func jaccard(id1, id2 string, a, b []step) float64 {
	set := func(id string, steps []step) map[string]int {
		out := map[string]int{"shape": 1, "shape of steps": 1, "id " + id: 1}
		for _, s := range steps {
			out["id "+s.id], out["title "+s.title] = 1, 1
			w := strings.Fields(s.prompt)
			for i := range len(w) - 3 {
				out["prompt "+strings.Join(w[i:i+4], " ")] = 4
			}
		}
		return out
	}
	x, y := set(id1, a), set(id2, b)
	both, all := 0, 0
	for s, n := range x {
		all += n
		if y[s] > 0 {
			both += n
		}
	}
	for s, n := range y {
		if x[s] == 0 {
			all += n
		}
	}
	return 100 * float64(both) / float64(all)
}

// drawPair draws two workflows, of which the second contains some of the first one's steps.
func drawPair(t *rapid.T) (a, b []step) {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	a = artifact(r, rapid.IntRange(1, 120).Draw(t, "steps"), rapid.SampledFrom([]int{5, 50, 5000}).
		Draw(t, "vocabulary"))
	b = slices.Clone(a)
	for i, changed := range artifact(r, rapid.IntRange(0, len(a)).Draw(t, "changed"), 5000) {
		b[i] = changed
	}
	return a, append(b, artifact(r, rapid.IntRange(0, 20).Draw(t, "more"), 5000)...)
}

func TestEstimateAccuracy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawPair(t)
		got, want := percent(value("a", a), value("b", b)), jaccard("a", "b", a, b)
		if float64(got) < want-12 || float64(got) > want+12 {
			t.Fatalf("estimated %d, counted %.1f", got, want)
		}
	})
}

func TestPercentIsSymmetric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawPair(t)
		x, y := similar.SignatureOf(value("a", a)), similar.SignatureOf(value("b", b))
		if p := x.Percent(y); p != y.Percent(x) || p < 0 || p > 100 {
			t.Fatalf("%d one way, %d the other", p, y.Percent(x))
		}
		if p := x.Percent(similar.SignatureOf(value("a", slices.Clone(a)))); p != 100 {
			t.Fatalf("an artifact is %d alike to itself", p)
		}
		slices.Reverse(a)
		if p := x.Percent(similar.SignatureOf(value("a", a))); p != 100 {
			t.Fatalf("another order of steps makes %d", p)
		}
	})
}

// TestSmallEdits: a workflow of sixty steps stays similar when a few prompts are rewritten,
// all ids change, and one step is removed.
func TestSmallEdits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		a := artifact(r, 60, 5000)
		b := slices.Clone(a)[:59]
		for i := range b {
			b[i].id = fmt.Sprintf("s%d", i)
		}
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, 58), 0, 3).Draw(t, "edited") {
			b[i].prompt = words(r, 20, 5000)
		}
		if p := percent(value("a", a), value("b", b)); p <= 80 {
			t.Fatalf("small edits leave %d", p)
		}
	})
}

// bundled returns the bundled workflows, none of which is a copy of another.
func bundled(t *testing.T) map[string]canon.Value {
	t.Helper()
	files, err := filepath.Glob("../../../infra/discovery/bundled/*.yaml")
	if err != nil || len(files) < 4 {
		t.Fatalf("the bundled workflows do not exist: %v, %v", files, err)
	}
	out := map[string]canon.Value{}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if out[filepath.Base(f)], err = yaml.Parse(data); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestUnrelatedWorkflows(t *testing.T) {
	all := bundled(t)
	all["small"] = parse(t, `{"id":"greet","name":"Greet","description":"Says hello.","version":"1.0.0","steps":[{"id":"hello","title":"Say hello","prompt":"Say hello."}]}`)
	all["as small"] = parse(t,
		`{"id":"tidy","name":"Tidy","description":"Cleans up.","version":"1.0.0","steps":[{"id":"clean","title":"Clean up","prompt":"Remove old files."}]}`)
	all["a word"] = parse(t, `{"id":"x","steps":[{"id":"y","prompt":"z"}]}`)
	all["another"] = parse(t, `{"id":"k","steps":[{"id":"l","prompt":"m"}]}`)
	all["empty"] = parse(t, `{}`)
	for a, x := range all {
		for b, y := range all {
			if p := percent(x, y); a != b && p >= 50 || a == b && p != 100 {
				t.Errorf("%s and %s: %d", a, b, p)
			}
		}
	}
}

// TestRenamedWorkflow: a real workflow stays similar under another name, version and
// description.
func TestRenamedWorkflow(t *testing.T) {
	for name, v := range bundled(t) {
		renamed := v.With("id", canon.OfString("my.own")).With("name", canon.OfString("Mine")).
			With("version", canon.OfString("9.9.9"))
		if p := percent(v, renamed); p < 90 || p == 100 {
			t.Errorf("%s renamed: %d", name, p)
		}
	}
}

func TestRank(t *testing.T) {
	of := func(text string) similar.Candidate {
		v := parse(t, text)
		data, err := canon.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return similar.Candidate{Ref: "r", Digest: canon.Sum(data), Signature: similar.SignatureOf(v)}
	}
	ref := func(name string, c similar.Candidate) similar.Candidate { c.Ref = name; return c }
	mine := ref("mine", of(`{"p":"a b c d e f","q":1}`))
	near := of(`{"p":"a b c d e f","q":2}`)
	half := of(`{"p":"a b c d e g","q":1}`)
	other := of(`{"p":"u v w x y z","q":9}`)
	nearly := of(`{"p":"A b, c d e f.","q":1}`) // other bytes, same content

	got := similar.Rank(mine, []similar.Candidate{ref("other", other), ref("b-near", near), ref("half", half),
		ref("nearly", nearly), ref("mine", mine),
		ref("z-same", mine), ref("a-near", near), ref("a-same", mine)})
	want := []similar.Match{{Ref: "a-same", Percent: 100}, {Ref: "z-same", Percent: 100}, {Ref: "nearly", Percent: 99},
		{Ref: "a-near", Percent: 86}, {Ref: "b-near", Percent: 86},
		{Ref: "half", Percent: 55}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}

	var many []similar.Candidate
	for i := range 2 * limits.DuplicatesMax {
		many = append(many, ref(fmt.Sprintf("r%02d", 99-i), near))
	}
	if got := similar.Rank(mine, many); len(got) != limits.DuplicatesMax || got[0].Ref != "r80" {
		t.Errorf("of many: %v", got)
	}
	if got := similar.Rank(similar.Candidate{},
		[]similar.Candidate{{Ref: "r", Signature: other.Signature}}); got == nil || len(got) != 0 {
		t.Errorf("nothing like it: %v", got)
	}
	if got := similar.Rank(similar.Candidate{Signature: other.Signature},
		[]similar.Candidate{{Ref: "r", Signature: other.Signature}}); len(got) != 1 || got[0].Percent != 99 {
		t.Errorf("without digests nothing is the same: %v", got)
	}
}
