package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/workflow/source"
)

// attached is a file of an attached folder.
func attached(name, path, id string) File {
	f := file(source.SourcePlugin, name+"/"+path, id)
	f.Attached, f.Folder = name, "plugin:"+name
	return f
}

// bad is f with a text that is no valid workflow, but has its id.
func bad(f File, id string) File {
	f.Data = fmt.Appendf(nil, `{"id":%q,"steps":[]}`, id)
	return f
}

// TestWhatAnIDMeans: which file an id means, and that a bad file does not affect a good one.
func TestWhatAnIDMeans(t *testing.T) {
	bundled := file(source.SourceBundled, "wr.new", "wr.new")
	bundled.Aliases = []string{"wr.old"}
	project := file(source.SourceProject, "p.json", "team.x")
	for _, c := range []struct {
		name  string
		files []File
		id    string
		ref   string // "" where code is the error
		code  fault.Code
	}{
		{"legacy id", []File{attached("a", "x.json", "old-flow")}, "old-flow", "a/x.json", ""},
		{"reserved id", []File{attached("a", "x.json", "wr.x")}, "wr.x", "a/x.json", ""},
		{"bundled before attached", []File{bundled, attached("a", "x.json", "wr.new")}, "wr.new", "wr.new", ""},
		{"alias", []File{bundled}, "wr.old", "wr.new", ""},
		{"alias gives way", []File{bundled, attached("a", "x.json", "wr.old")}, "wr.old", "a/x.json", ""},
		{"alias gives way to a bad file", []File{bundled, bad(attached("a", "x.json", "wr.old"), "wr.old")}, "wr.old", "",
			fault.WorkflowInvalid},
		{"alias does not give way to a file that may not have the id",
			[]File{bundled, file(source.SourceProject, "p.json", "wr.old")}, "wr.old", "wr.new", ""},
		{"two folders", []File{attached("a", "x.json", "team.x"), attached("b", "x.json", "team.x")}, "team.x", "",
			fault.WorkflowAmbiguous},
		{"one folder", []File{attached("a", "x.json", "team.x"), attached("a", "y.json", "team.x")}, "team.x", "",
			fault.WorkflowAmbiguous},
		{"attached and project", []File{project, attached("a", "x.json", "team.x")}, "team.x", "", fault.WorkflowAmbiguous},
		{"bad attached and project", []File{project, bad(attached("a", "x.json", "team.x"), "team.x")}, "team.x", "p.json",
			""},
		{"bad attached alone", []File{bad(attached("a", "x.json", "team.x"), "team.x")}, "team.x", "", fault.WorkflowInvalid},
		{"a copy in the project", []File{bundled, file(source.SourceProject, "p.json", "wr.new")}, "wr.new", "wr.new", ""},
		{"another id", []File{attached("a", "x.json", "team.x")}, "team.y", "", fault.WorkflowNotFound},
	} {
		e, err := of(c.files).Find(c.id)
		if c.code != "" && !fault.Is(err, c.code) || c.code == "" && (err != nil || e.Ref != c.ref) {
			t.Errorf("%s: got %q, %v, want %q %s", c.name, e.Ref, err, c.ref, c.code)
		}
	}
}

// TestShadowedFilesAreNamed: in the entry of the attached file and in that of the bundled one.
func TestShadowedFilesAreNamed(t *testing.T) {
	c := of([]File{file(source.SourceBundled, "wr.new", "wr.new"), attached("a", "x.json", "wr.new")})
	for _, e := range c.Entries {
		switch {
		case len(e.Duplicates) > 0:
			t.Errorf("%s is ambiguous: %v", e.Ref, e.Duplicates)
		case e.Attached == "" && !slices.Equal(e.Shadows, []string{"a/x.json (plugin:a)"}):
			t.Errorf("the bundled one shadows %v", e.Shadows)
		case e.Attached != "" && (e.ShadowedBy != "wr.new (bundled)" || !e.Valid() || len(e.Problems) != 1 ||
			!strings.Contains(e.Problems[0].Message, "bundled")):
			t.Errorf("the attached one is shadowed by %q, %v", e.ShadowedBy, e.Problems)
		}
	}
}

// TestUnreadSourcesAreNamed: an id that no other source has may be one of a source that was not read.
func TestUnreadSourcesAreNamed(t *testing.T) {
	c := of([]File{file(source.SourceProject, "p.json", "team.x")})
	c.Unread = fault.New(fault.PolicyUnconfirmed, "the attached folders were not read")
	if _, err := c.Find("team.y"); !fault.Is(err, fault.PolicyUnconfirmed) {
		t.Errorf("another id: %v", err)
	}
	if _, err := c.Find("team.x"); err != nil {
		t.Errorf("an id of another source: %v", err)
	}
}

// routineIn is a routine whose only step has the title.
func routineIn(f File, id, title string) File {
	f.Data = fmt.Appendf(nil, `{"id":%q,"name":"N","description":"d","version":"1.0.0","steps":[{"id":"a","title":%q,"prompt":"p"}]}`,
		id, title)
	return f
}

// callingIn is calling as a file of a folder.
func callingIn(f File, template string) File {
	f.Data = calling("team.caller", template).Data
	return f
}

// TestRoutinesBesideFilesComeFirst: in the order of the directory, its subdirectory routines, the
// folder, all other sources, aliases; and those of an attached folder are seen by its own files alone.
func TestRoutinesBesideFilesComeFirst(t *testing.T) {
	in := func(kind source.SourceKind, folder, ref string) File {
		return File{Kind: kind, Ref: ref, Folder: folder}
	}
	ours := routineIn(in(source.SourceBundled, "", "wr.routine-ours"), "wr.routine-ours", "ours")
	ours.Aliases = []string{"wr.routine-look"}
	user := routineIn(in(source.SourceUser, "user", "look.json"), "routine-look", "user")
	same := routineIn(attached("a", "sub/look.json", ""), "routine-look", "same directory")
	below := routineIn(attached("a", "sub/routines/look.json", ""), "wr.routine-look", "routines")
	folder := routineIn(attached("a", "other/look.json", ""), "wr.routine-look", "folder")
	other := routineIn(attached("b", "look.json", ""), "wr.routine-look", "another folder")
	caller := callingIn(attached("a", "sub/caller.json", ""), "wr.templates.routine.look")
	project := callingIn(in(source.SourceProject, "project", ".waybill/workflows/caller.json"), "wr.templates.routine.look")
	all := []File{ours, user, folder, below, same, other}
	for _, c := range []struct {
		caller File
		files  []File
		want   string
	}{
		{caller, all, "same directory"},
		{caller, all[:4], "routines"},
		{caller, all[:3], "folder"},
		{caller, []File{ours, user, other}, "user"},
		{caller, []File{ours, other}, "ours"},
		{caller, []File{other}, ""},
		{project, all, "user"},
		{project, []File{ours, same, other}, "ours"},
		{project, []File{same, below, folder, other}, ""},
	} {
		for _, e := range []Entry{Sources{Files: c.files}.Compile(c.caller), ofCaller(c.caller, c.files)} {
			got := ""
			if e.Valid() {
				got = e.Compiled.Steps[0].Title
			}
			if got != c.want {
				t.Errorf("%s with %d files: got %q, want %q: %v", c.caller.Ref, len(c.files), got, c.want, e.Problems)
			}
		}
	}
}

// ofCaller is the entry of a caller in the catalog of it and other files.
func ofCaller(caller File, files []File) Entry {
	e, _ := of(append(slices.Clone(files), caller)).Find("team.caller")
	return e
}

// TestNamedFilesReadOnlyWhatTheyReferTo: a file without references reads nothing, one whose routines
// are beside it only those, also through routines that call others.
func TestNamedFilesReadOnlyWhatTheyReferTo(t *testing.T) {
	named := func(data []byte) File {
		return File{Kind: source.SourceProject, Ref: "w.json", Folder: "named", Data: data}
	}
	plain := file(source.SourceProject, "w.json", "team.plain").Data
	calls := calling("team.caller", "wr.templates.routine.look").Data
	prompts := []byte(`{"id":"team.p","name":"N","description":"d","version":"1.0.0","steps":[{"id":"a","title":"A","promptRef":"prompt:look"}]}`)
	look := File{Kind: source.SourceProject, Ref: "look.json", Folder: "named", Data: routineIn(File{}, "routine-look", "L").Data}
	far := look
	far.Data = []byte(strings.ReplaceAll(string(calls), "team.caller", "routine-look"))
	for _, c := range []struct {
		name   string
		data   []byte
		beside []File
		want   string // what is read
	}{
		{"no reference", plain, nil, ""},
		{"invalid", []byte(`{"id":"x"}`), nil, ""},
		{"a routine beside it", calls, []File{look}, "beside"},
		{"no routine beside it", calls, nil, "beside others"},
		{"a routine that calls one elsewhere", calls, []File{{Kind: far.Kind, Ref: far.Ref, Folder: far.Folder,
			Data: []byte(strings.ReplaceAll(string(far.Data), "routine.look", "routine.far"))}}, "beside others"},
		{"a prompt", prompts, nil, "beside others"},
	} {
		var read []string
		n := Named{File: named(c.data),
			Beside: func() ([]File, error) { read = append(read, "beside"); return c.beside, nil },
			Others: func() (Sources, error) {
				read = append(read, "others")
				return Sources{Files: []File{routineIn(File{Kind: source.SourceUser, Ref: "f.json"}, "routine-far", "F")}}, nil
			}}
		if _, err := n.Compile(); err != nil || strings.Join(read, " ") != c.want {
			t.Errorf("%s: read %v, %v; want %s", c.name, read, err, c.want)
		}
	}
}

// TestNamedFileIsTheFileOfItsID: the same routines are found by path as by id, so that the hash is one.
func TestNamedFileIsTheFileOfItsID(t *testing.T) {
	caller := callingIn(File{Kind: source.SourceProject, Ref: ".waybill/workflows/sub/w.json", Folder: "project"},
		"wr.templates.routine.look")
	all := []File{routineIn(File{Kind: source.SourceUser, Ref: "look.json", Folder: "user"}, "routine-look", "user"),
		routineIn(File{Kind: source.SourceProject, Ref: ".waybill/workflows/look.json", Folder: "project"}, "routine-look",
			"folder"), caller}
	path := caller
	path.Folder = "named"
	n := Named{File: path, Beside: func() ([]File, error) { return nil, nil },
		Others: func() (Sources, error) { return Sources{Files: all}, nil }}
	byPath, err := n.Compile()
	if err != nil {
		t.Fatal(err)
	}
	if byID, err := of(all).Find("team.caller"); err != nil || byID.Compiled.Hash() != byPath.Compiled.Hash() ||
		byPath.Compiled.Steps[0].Title != "folder" {
		t.Errorf("by path %v, by id %v, %v", byPath.Compiled.Steps, byID.Compiled.Steps, err)
	}
}
