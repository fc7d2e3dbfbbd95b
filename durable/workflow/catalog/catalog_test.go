package catalog

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
)

func file(kind source.SourceKind, ref, id string) File {
	return File{Kind: kind, Ref: ref, Data: fmt.Appendf(nil,
		`{"id":%q,"name":"N","description":"d","version":"1.0.0","steps":[{"id":"a","title":"A","prompt":"p"}]}`, id)}
}

// of is the catalog of files without bindings and prompts.
func of(files []File) Catalog { return Of(Sources{Files: files}) }

func TestFindReportsDuplicateIDs(t *testing.T) {
	c := of([]File{file(source.SourceProject, "b.json", "team.release"),
		file(source.SourceUser, "a.json", "team.release"),
		file(source.SourceProject, "c.json", "team.other")})

	_, err := c.Find("team.release")
	if !fault.Is(err, fault.WorkflowAmbiguous) {
		t.Fatalf("got %v", err)
	}
	for _, place := range []string{"a.json (user)", "b.json (project)"} {
		if !strings.Contains(err.Error(), place) {
			t.Errorf("%s is not named in %v", place, err)
		}
	}
	if e, err := c.Find("team.other"); err != nil || e.Ref != "c.json" || len(e.Duplicates) != 0 {
		t.Errorf("the other one: %+v, %v", e, err)
	}
	for _, e := range c.Entries {
		if e.ID == "team.release" && (len(e.Duplicates) != 1 || e.Duplicates[0] == e.place()) {
			t.Errorf("%s does not list the other file with its id: %v", e.Ref, e.Duplicates)
		}
	}
}

func TestInvalidFilesAreListedWithProblems(t *testing.T) {
	c := of([]File{
		{Kind: source.SourceProject, Ref: "gone.yaml", Err: errors.New("permission denied")},
		{Kind: source.SourceProject, Ref: "half.json", Data: []byte(`{"id":"team.half"`)},
		file(source.SourceProject, "taken.json", "wr.mine"),
		file(source.SourceBundled, "wr.ours", "wr.ours"),
	})

	if len(c.Entries) != 4 {
		t.Fatalf("%d entries", len(c.Entries))
	}
	for _, e := range c.Entries {
		if e.Valid() != (e.ID == "wr.ours") {
			t.Errorf("%s: valid %v, %v", e.Ref, e.Valid(), e.Problems)
		}
	}
	_, err := c.Find("wr.mine")
	if !fault.Is(err, fault.WorkflowInvalid) || !strings.Contains(err.Error(), "reserved") ||
		fault.Of(err).Details["problems"] == nil {
		t.Errorf("a reserved id of a project: %v", err)
	}
}

func TestSuggestedIDsAreUnique(t *testing.T) {
	c := of([]File{file(source.SourceUser, "a.json", "bug-triage"), file(source.SourceProject, "b.json", "Release Now"),
		file(source.SourceProject, "c.json", "deploy"), file(source.SourceProject, "d.json", "project.deploy")})

	got := map[string]Entry{}
	for _, e := range c.Entries {
		got[e.Ref] = e
	}
	if e := got["a.json"]; e.IDStatus != "legacy" || e.SuggestedID != "user.bug_triage" || !e.Valid() {
		t.Errorf("a: %s %s %v", e.IDStatus, e.SuggestedID, e.Problems)
	}
	if e := got["c.json"]; !strings.HasPrefix(e.SuggestedID, "project.deploy_") ||
		len(e.SuggestedID) != len("project.deploy_")+4 {
		t.Errorf("the id suggested for c is in use: %s", e.SuggestedID)
	}
	if e := got["d.json"]; e.IDStatus != "namespaced" || e.SuggestedID != "" {
		t.Errorf("d: %s %s", e.IDStatus, e.SuggestedID)
	}
	long := strings.Repeat("x", 60)
	for _, e := range of([]File{file(source.SourceProject, "e.json", long),
		file(source.SourceProject, "f.json", long+"y")}).Entries {
		if len(e.SuggestedID) != 64 || source.IDStatus(e.SuggestedID) != "namespaced" ||
			!strings.Contains(e.SuggestedID, "x_") {
			t.Errorf("%s: the suggestion %s is not a valid id", e.Ref, e.SuggestedID)
		}
	}
	if again := of([]File{file(source.SourceProject, "c.json", "deploy"),
		file(source.SourceProject, "d.json", "project.deploy")}); again.Entries[0].SuggestedID != got["c.json"].SuggestedID {
		t.Error("the suggestion depends on more than the source")
	}
}

func TestFindSuggestsSimilarID(t *testing.T) {
	c := of([]File{file(source.SourceBundled, "wr.demo", "wr.demo"),
		file(source.SourceProject, "r.json", "team.release")})
	for typed, meant := range map[string]string{"demo": "wr.demo", "wr.dmeo": "wr.demo", "team.relase": "team.release",
		"xyzzy": ""} {
		_, err := c.Find(typed)
		f := fault.Of(err)
		if f == nil || f.Code != fault.WorkflowNotFound {
			t.Errorf("%s: %v", typed, err)
		} else if meant != "" && !strings.Contains(f.Suggestion.String(), meant) {
			t.Errorf("%s: suggestion %q", typed, f.Suggestion.String())
		}
	}
}

func TestCommandsListsAllActions(t *testing.T) {
	const src = `{"id":"test.x","name":"X","description":"d","version":"1.0.0","steps":[
		{"id":"a","title":"A","prompt":"p"},
		{"id":"b","title":"B","action":{"kind":"command","argv":["git","status"],"cwd":"src","env":{"K":"v"}}}]}`
	_, c, problems := compile.File("x.json", source.SourceProject, []byte(src))
	if source.HasErrors(problems) {
		t.Fatal(problems)
	}
	got := Commands(c)
	if len(got) != 1 || got[0].StepID != "b" || got[0].Argv[1] != "status" || got[0].Cwd != "src" ||
		got[0].Env["K"] != "v" {
		t.Fatalf("got %+v", got)
	}
}
