package catalog

import (
	"bytes"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/workflow/source"
)

// installedFile is a workflow that a proposal installed, in the place of some files.
func installedFile(ref, id string, of ...File) File {
	f := file(source.SourceInstalled, ref, id)
	f.Data = bytes.ReplaceAll(f.Data, []byte(`"title":"A"`), []byte(`"title":"`+ref+`"`))
	f.Proposal = "prop_" + ref
	for _, r := range of {
		f.Replaces = append(f.Replaces, r.Replaced())
	}
	return f
}

// changed is a file with other bytes.
func changed(f File) File {
	f.Data = append(bytes.Clone(f.Data), '\n')
	return f
}

// moved is a file at another place.
func moved(f File, kind source.SourceKind, ref string) File {
	f.Kind, f.Ref = kind, ref
	return f
}

// TestInstalledReplacesOneFile: only the file at that place gives way, while it has these bytes.
func TestInstalledReplacesOneFile(t *testing.T) {
	mine := file(source.SourceProject, ".waybill/workflows/a.json", "team.flow")
	older := installedFile("old", "team.flow", mine)
	attached := moved(mine, source.SourcePlugin, "other/a.json")
	attached.Attached = "other"
	for name, row := range map[string]struct {
		files []File
		want  string // the ref of what the id means, or the words of the refusal
	}{
		"the file":                 {[]File{mine, older}, "old"},
		"the file is gone":         {[]File{older}, "old"},
		"the file changed":         {[]File{changed(mine), older}, "a.json changed after"},
		"another file beside it":   {[]File{mine, moved(mine, source.SourceProject, "b.json"), older}, "2 files"},
		"a copy at another place":  {[]File{moved(mine, source.SourceProject, "b.json"), older}, "2 files"},
		"a copy of another source": {[]File{moved(mine, source.SourceUser, mine.Ref), older}, "2 files"},
		"an attached copy":         {[]File{attached, older}, "2 files"},
		"nothing named":            {[]File{mine, installedFile("old", "team.flow")}, "2 files"},
		"another id":               {[]File{mine, installedFile("old", "team.other", mine)}, mine.Ref},
		"not installed":            {[]File{mine, moved(older, source.SourceUser, "u.json")}, "2 files"},
		"two installed":            {[]File{mine, older, installedFile("new", "team.flow")}, "2 files"},
		"an installed one":         {[]File{mine, older, installedFile("new", "team.flow", older)}, "new"},
		"an invalid one":           {[]File{mine, {Kind: source.SourceInstalled, Ref: "bad", Data: []byte(`{"id":"team.flow"}`), Replaces: older.Replaces}}, "bad is not a valid workflow"},
	} {
		e, err := of(row.files).Find("team.flow")
		if err == nil && e.Ref != row.want || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %s, %v; want %s", name, e.Ref, err, row.want)
		}
	}
}

// TestReplacedFilesAreNamed: entries say what replaces what; a file that changed since is named with what to do.
func TestReplacedFilesAreNamed(t *testing.T) {
	mine := file(source.SourceProject, "a.json", "team.flow")
	c := of([]File{mine, installedFile("old", "team.flow", mine)})
	for _, e := range c.Entries {
		if got := e.ReplacedBy + "|" + e.Origin(); got != "old (installed)|" && got != "|a.json (project)" || len(e.Duplicates) > 0 {
			t.Errorf("%s: %s, %v", e.Ref, got, e.Duplicates)
		}
	}
	_, err := of([]File{changed(mine), installedFile("old", "team.flow", mine)}).Find("team.flow")
	f := fault.Of(err)
	if f.Code != fault.WorkflowAmbiguous || f.Details["changed"] != "a.json (project)" || f.Details["proposalId"] != "prop_old" {
		t.Errorf("%v, %v", err, f.Details)
	}
	for _, what := range []string{"waybill start FILE", "waybill proposals create FILE", "waybill proposals rollback prop_old"} {
		if !strings.Contains(f.Suggestion.String(), what) {
			t.Errorf("%q does not name %s", f.Suggestion.String(), what)
		}
	}
}

// TestReplaceable: a proposed workflow replaces what its id means, or the only file that makes the id ambiguous.
func TestReplaceable(t *testing.T) {
	mine, users := file(source.SourceProject, "a.json", "team.flow"), file(source.SourceUser, "u.json", "team.flow")
	users.Data = append(users.Data, ' ')
	older := installedFile("old", "team.flow", mine)
	broken := File{Kind: source.SourceUser, Ref: "broken.json", Data: []byte(`{`)}
	bundled := moved(mine, source.SourceBundled, "wr.x")
	for name, row := range map[string]struct {
		files []File
		ref   string
		self  canon.Digest
		want  string // the ref, "" for nothing, or the code of the refusal
	}{
		"nothing":                      {[]File{file(source.SourceUser, "x.json", "team.other"), broken}, "", canon.Digest{}, ""},
		"a file":                       {[]File{mine}, "", canon.Digest{}, "a.json"},
		"a bundled one":                {[]File{bundled}, "", canon.Digest{}, ""},
		"what is installed":            {[]File{mine, older}, "", canon.Digest{}, "old"},
		"the file that changed":        {[]File{changed(mine), older}, "", canon.Digest{}, "a.json"},
		"another file":                 {[]File{mine, older, users}, "", canon.Digest{}, "u.json"},
		"two files":                    {[]File{mine, users}, "", canon.Digest{}, "WORKFLOW_AMBIGUOUS"},
		"two files, one is proposed":   {[]File{mine, users}, "", canon.Sum(mine.Data), "u.json"},
		"the proposed file itself":     {[]File{mine}, "", canon.Sum(mine.Data), "a.json"},
		"two files, one named":         {[]File{mine, users}, "a.json", canon.Digest{}, "a.json"},
		"a file that gave way, named":  {[]File{mine, older}, "a.json", canon.Digest{}, "a.json"},
		"what is installed, named":     {[]File{mine, users, older}, "installed", canon.Digest{}, "old"},
		"nothing is installed, named":  {[]File{mine}, "installed", canon.Digest{}, "WORKFLOW_NOT_FOUND"},
		"two are installed, one named": {[]File{older, installedFile("new", "team.flow")}, "installed", canon.Digest{}, "WORKFLOW_AMBIGUOUS"},
		"no such file":                 {[]File{mine}, "b.json", canon.Digest{}, "WORKFLOW_NOT_FOUND"},
	} {
		e, ok, err := of(row.files).Replaceable("team.flow", row.ref, row.self)
		got := e.Ref
		if err != nil {
			got = string(fault.Of(err).Code)
		}
		if got != row.want || ok != (row.want == e.Ref && e.Ref != "") {
			t.Errorf("%s: %s, %v, %v; want %s", name, e.Ref, ok, err, row.want)
		}
	}
}

// TestNamed: what a proposal names is found by its bytes, and by its place where two have them.
func TestNamed(t *testing.T) {
	mine := file(source.SourceProject, "a.json", "team.flow")
	c := of([]File{mine, moved(mine, source.SourceProject, "b.json"), file(source.SourceProject, "c.json", "team.other")})
	if _, ok := c.Named("team.flow", Replaced{Kind: source.SourceProject, Digest: canon.Sum(mine.Data)}); ok {
		t.Error("one of two was found")
	}
	if e, ok := c.Named("team.flow", Replaced{Kind: source.SourceProject, Ref: "b.json", Digest: canon.Sum(mine.Data)}); !ok || e.Ref != "b.json" {
		t.Errorf("%s, %v", e.Ref, ok)
	}
	if _, ok := c.Named("team.flow", Replaced{Kind: source.SourceUser, Ref: "b.json", Digest: canon.Sum(mine.Data)}); ok {
		t.Error("one of another source was found")
	}
}

// TestInstalledRoutineIsUsedInPlaceOfItsFile: a caller in the folder of the replaced file gets the installed routine.
func TestInstalledRoutineIsUsedInPlaceOfItsFile(t *testing.T) {
	routine := file(source.SourceProject, "look.json", "routine-look")
	routine.Folder = "f"
	caller := calling("team.caller", "wr.templates.routine.look")
	caller.Folder = "f"
	new := installedFile("new", "routine-look", routine)
	for name, row := range map[string]struct {
		files []File
		want  string
	}{
		"replaced": {[]File{routine, new}, "new"},
		"changed":  {[]File{changed(routine), new}, "A"},
	} {
		e := Sources{Files: row.files}.Compile(caller)
		if !e.Valid() || e.Compiled.Steps[0].Title != row.want {
			t.Errorf("%s: %+v, %v", name, e.Compiled.Steps, e.Problems)
		}
	}
}
