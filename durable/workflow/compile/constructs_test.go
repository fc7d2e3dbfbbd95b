package compile

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/source"
)

// constructs is a directory with one file for each construct of workflows.
const constructs = examples + "/constructs"

// withRoutines returns options with the files of a directory as routines.
func withRoutines(t testing.TB, dir string) Library {
	t.Helper()
	known := map[string]source.Source{}
	for _, name := range sources(t, dir) {
		src, found := source.Parse(filepath.Base(name), source.SourceBundled, readFile(t, name))
		if source.HasErrors(found) {
			t.Fatalf("%s: %v", name, found)
		}
		known[src.ID] = src
	}
	return optionsOf(known)
}

func optionsOf(known map[string]source.Source) Library {
	return Library{Routines: []Routines{known}}
}

func compileConstruct(t testing.TB, name string) (Compiled, []source.Problem) {
	t.Helper()
	_, c, found := FileWith(filepath.Base(name), source.SourceProject, readFile(t, name),
		withRoutines(t, constructs+"/routines"))
	return c, found
}

// TestGoldenConstructs checks the hash of each construct, and the whole document where it
// contains no text of Waybill: a changed contract must not look like a change of the compiler.
func TestGoldenConstructs(t *testing.T) {
	var hashes strings.Builder
	for _, name := range sources(t, constructs) {
		c, found := compileConstruct(t, name)
		if source.HasErrors(found) {
			t.Errorf("%s: %v", name, found)
			continue
		}
		base := filepath.Base(name)
		fmt.Fprintf(&hashes, "%s %s\n", c.Hash(), base)
		if len(c.Contracts)+len(c.Features) == 0 && !strings.Contains(string(c.Bytes()), `"injected"`) {
			golden(t, filepath.Join(constructs, "compiled", base+".want"), string(c.Bytes()))
		}
		again, err := Decode(c.Bytes())
		if err != nil || again.Hash() != c.Hash() {
			t.Errorf("%s: the pinned document cannot be decoded: %v", name, err)
		}
	}
	golden(t, filepath.Join(constructs, "hashes.want"), hashes.String())
}

// TestCompileIsDeterministic: the order of map iteration does not change the document.
func TestCompileIsDeterministic(t *testing.T) {
	options := withRoutines(t, constructs+"/routines")
	for _, name := range sources(t, constructs) {
		first, _ := compileConstruct(t, name)
		data := readFile(t, name)
		for range 100 {
			if _, c, _ := FileWith(filepath.Base(name), source.SourceProject, data,
				options); c.Hash() != first.Hash() || string(c.Bytes()) != string(first.Bytes()) {
				t.Fatalf("%s compiles to\n%s\n%s", name, first.Bytes(), c.Bytes())
			}
		}
	}
}

// TestConstructsInAnyOrderOfKeys: neither the order of keys nor the language (JSON or YAML)
// changes the hash.
func TestConstructsInAnyOrderOfKeys(t *testing.T) {
	options := withRoutines(t, constructs+"/routines")
	for _, name := range sources(t, constructs) {
		src, want, _ := FileWith(filepath.Base(name), source.SourceProject, readFile(t, name), options)
		rapid.Check(t, func(t *rapid.T) {
			text := shuffled(t, src.Root.Value)
			if _, c, found := FileWith("x.json", source.SourceProject, text, options); source.HasErrors(found) ||
				c.Hash() != want.Hash() {
				t.Fatalf("%s: %v\n%s\n%s", text, found, want.Bytes(), c.Bytes())
			}
		})
	}
}

// TestSetsInAnyOrder: lists that are sets are sorted, without duplicates.
func TestSetsInAnyOrder(t *testing.T) {
	const loop = `{"id": "l", "type": "loop", "title": "L", "maxIterations": 2, "while": {"kind": "condition_ref", "conditionId": "c1"}, "body": [{"id": "x", "title": "T", "prompt": "p", "outputContract": {"contractRef": "wr.contracts.loop_control"}}]}`
	const other = `{"id": "k", "type": "loop", "title": "L", "maxIterations": 2, "while": {"kind": "condition_ref", "conditionId": "c2"}, "body": [{"id": "y", "title": "T", "prompt": "set v"}]}`
	for _, row := range [][2]string{
		{`"features": ["wr.features.memory_context", "wr.features.subagent_guidance"]`,
			`"features": ["wr.features.subagent_guidance", "wr.features.memory_context"]`},
		{`"capabilities": {"required": ["delegation", "web_browsing"]}`,
			`"capabilities": {"required": ["web_browsing", "delegation"]}`},
		{`"conditions": [{"id": "c1", "kind": "loop_control"}, {"id": "c2", "kind": "context_variable", "condition": {"var": "v", "equals": 1}}]`,
			`"conditions": [{"conditionId": "c2", "kind": "context_variable", "condition": {"var": "v", "equals": 1}}, {"id": "c0", "kind": "loop_control"}, {"conditionId": "c1", "kind": "loop_control"}]`},
		{`"extensionPoints": [{"slotId": "aa", "purpose": "p", "default": "d"}, {"slotId": "bb", "purpose": "p", "default": "e"}]`, `"extensionPoints": [{"slotId": "bb", "purpose": "q", "default": "e"}, {"slotId": "aa", "purpose": "p", "default": "d"}]`},
	} {
		steps := step("a", "")
		if strings.Contains(row[0], "conditions") {
			steps = loop + "," + other
		}
		one, two := compiled(t, ", "+row[0], steps), compiled(t, ", "+row[1], steps)
		if one.Hash() != two.Hash() {
			t.Errorf("%s: they compile to\n%s\n%s", row[0], one.Bytes(), two.Bytes())
		}
	}
}

// TestPublishedFiles: published files compile without errors and deterministically. The
// routine that they call is provided by the test.
func TestPublishedFiles(t *testing.T) {
	names, _ := filepath.Glob("../../../../shared/data/workrail/workflows/*.json")
	if len(names) == 0 {
		t.Skip("the published WorkRail files are not available next to the repository")
	}
	replacement, _ := source.Parse("r.json", source.SourceBundled,
		[]byte(`{"id": "wr.routine-tension-driven-design", "name": "R", "description": "d", "version": "1.0.0",
		"steps": [{"id": "step-write", "title": "Write", "prompt": "Write {deliverableName}."}]}`))
	options := optionsOf(map[string]source.Source{replacement.ID: replacement})
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, c, found := FileWith(filepath.Base(name), source.SourceBundled, data, options)
		for _, p := range found {
			if p.Severity == "error" {
				t.Errorf("%s: %+v", filepath.Base(name), p)
			}
		}
		if len(c.Steps) == 0 {
			t.Errorf("%s compiles to nothing", filepath.Base(name))
		}
		for range 100 {
			if _, again, _ := FileWith(filepath.Base(name), source.SourceBundled, data,
				options); string(again.Bytes()) != string(c.Bytes()) {
				t.Fatalf("%s compiles to two different documents", name)
			}
		}
	}
}

// shape renders a sequence with its loops: "a loop(b c) d".
func shape(c Compiled, steps []Step) string {
	var out []string
	for _, s := range steps {
		text := s.StepID
		if s.Type == LoopStep {
			text += "(" + shape(c, c.Sequence(s.StepID)) + ")"
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

// problems renders the problems of a file, with pointers, messages and fixes.
func problems(found []source.Problem) []string {
	var out []string
	for _, p := range found {
		out = append(out, fmt.Sprintf("%s %s: %s | %s", p.Severity, p.Pointer, p.Message, p.Fix))
	}
	return out
}

// jcs returns the JCS form of a part of a document.
func jcs(t testing.TB, x any) string {
	t.Helper()
	data, err := canon.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// wantProblem compiles a file and requires one error that contains all of the words.
func wantProblem(t *testing.T, o Library, more, steps string, words ...string) {
	t.Helper()
	_, c, found := FileWith("x.json", source.SourceProject, sourceText(more, steps), o)
	if c.Steps != nil || !c.Hash().IsZero() || !source.HasErrors(found) {
		t.Errorf("%s %s: it compiles, with %v", more, steps, found)
	}
	if !slices.ContainsFunc(problems(found), func(p string) bool {
		return strings.HasPrefix(p, "error") &&
			!slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(p, w) })
	}) {
		t.Errorf("%s %s: no error has %q in\n%s", more, steps, words, strings.Join(problems(found), "\n"))
	}
}

// TestSpellings: each pair of spellings compiles to the same document.
func TestSpellings(t *testing.T) {
	const head = `{"id": "project.a", "name": "A", "description": "d", "version": "0.1.0", "steps": [`
	const call = `"title": "C", "templateCall": {"templateId": "wr.templates.routine.look", "args": {"what": "x"}}`
	routine := `{"id": "routine-look", "name": "R", "description": "d", "version": "0.1.0",
		"steps": [{"id": "see", "title": "See", "prompt": "Look at {what}."}]}`
	src, _ := source.Parse("r.json", source.SourceUser, []byte(routine))
	with := Library{Routines: []Routines{{src.ID: src}}}
	for _, pair := range [][2]string{
		{`{"id": "a", "title": "A", "prompt": "p", "output": {"contractRef": "wr.contracts.loop_control"}}`,
			`{"id": "a", "title": "A", "prompt": "p", "outputContract": {"contractRef": "wr.contracts.loop_control"}}`},
		{`{"id": "a", "title": "A", "prompt": "p", "output": {"contractRef": "wr.contracts.review_verdict", "required": false}}`,
			`{"id": "a", "title": "A", "prompt": "p", "outputContract": {"contractRef": "wr.contracts.review_verdict", "required": false}}`},
		{`{"id": "c", "type": "template_call", ` + call + `}`, `{"id": "c", ` + call + `}`},
		{`{"id": "c", "type": "template_call", "requireConfirmation": true, "runCondition": {"var": "a"}, ` + call + `}`,
			`{"id": "c", "requireConfirmation": true, "runCondition": {"var": "a"}, ` + call + `}`},
		{`{"id": "a", "title": "A", "prompt": "p", "validationCriteria": {"type": "contains", "value": "Findings"}}`,
			`{"id": "a", "title": "A", "prompt": "p", "validationCriteria": {"type": "contains", "value": "Findings", "message": ""}}`},
	} {
		var docs [2]string
		for i, step := range pair {
			_, c, found := FileWith("a.json", source.SourceProject, []byte(head+step+`]}`), with)
			if len(found) > 0 {
				t.Errorf("%s: %+v", step, found)
			}
			docs[i] = string(c.Bytes())
		}
		if docs[0] != docs[1] || docs[0] == "" {
			t.Errorf("%s\nand %s\ncompile to\n%s\n%s", pair[0], pair[1], docs[0], docs[1])
		}
	}
}
