package source

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/problem"
)

func TestIDs(t *testing.T) {
	for _, row := range []struct {
		kind     SourceKind
		id       string
		severity problem.Severity // "" when the id is accepted
		fix      string
	}{
		{SourceProject, "test.one", "", ""},
		{SourceProject, "a-b_1.c-d_2", "", ""},
		{SourceBundled, "wr.shaping", "", ""},
		{SourceUser, "move-house", problem.Warning, `Write "user.move_house".`},
		{SourceProject, "move-house", problem.Warning, `Write "project.move_house".`},
		{SourceRemote, "move-house", problem.Warning, `Write "repo.move_house".`},
		{SourcePlugin, "3d-print", problem.Warning, `Write "repo.w_3d_print".`},
		{SourceUser, "zoo-a", problem.Warning, `Write "user.zoo_a".`},
		{SourceUser, "a-zoo", problem.Warning, `Write "user.a_zoo".`},
		{SourceBundled, "move-house", problem.Warning, `Write "wr.move_house".`},
		{SourceProject, "wr.shaping", problem.Error, `Write "project.shaping", or attach the folder: 'waybill workflows attach DIR'.`},
		{SourceUser, "wr.routine-design-review", problem.Error, `Write "user.routine_design_review", or attach the folder: 'waybill workflows attach DIR'.`},
		{SourceRemote, "wr.", problem.Error, `Write "repo.wr".`},
		{SourceProject, "wr.a.b", problem.Error, `Write "project.a_b", or attach the folder: 'waybill workflows attach DIR'.`},
		{SourceProject, "a.b.c", problem.Error, `Write "project.b_c".`},
		{SourceProject, "Test.One", problem.Error, `Write "project.one".`},
		{SourceProject, "My Flow!", problem.Error, `Write "project.my_flow".`},
		{SourceProject, "1a.b", problem.Error, `Write "project.b".`},
		{SourceProject, "ähm", problem.Error, `Write "project.hm".`},
		{SourceProject, "...", problem.Error, `Write "project.w".`},
	} {
		src, found := Parse("x.json", row.kind, []byte(strings.Replace(file("", ""), "test.one", row.id, 1)))
		if row.severity == "" {
			if len(found) > 0 {
				t.Errorf("%s %q: %v", row.kind, row.id, found)
			}
			continue
		}
		if len(found) != 1 || found[0].Severity != row.severity || found[0].Pointer != "/id" ||
			found[0].Fix != row.fix {
			t.Errorf("%s %q: got %+v, want %s %s", row.kind, row.id, found, row.severity, row.fix)
		}
		if src.Valid != (row.severity == problem.Warning) {
			t.Errorf("%s %q: valid is %v", row.kind, row.id, src.Valid)
		}
	}
}

// TestSuggestedIDsAreValid: a suggested id is accepted for its source kind without problems.
func TestSuggestedIDsAreValid(t *testing.T) {
	for _, kind := range []SourceKind{SourceBundled, SourceUser, SourceProject, SourceRemote, SourcePlugin, "other"} {
		for _, id := range []string{"x", "wr.x", "A.B.C", "", ".", "-", "9", "Ünï çode", strings.Repeat("long-", 40),
			"wr.wr", "user.a"} {
			s := SuggestID(kind, id)
			if IDStatus(s) != "namespaced" || len(s) > idLengthMax ||
				strings.HasPrefix(s, "wr.") != (kind == SourceBundled) {
				t.Errorf("%s %q: suggested %q", kind, id, s)
			}
		}
	}
}

func TestSlug(t *testing.T) {
	for in, want := range map[string]string{"Gather Facts": "gather-facts", "a/b:c@d": "a-b-c-d", "É": "step",
		"--": "step", "ok_1": "ok_1"} {
		if got := slug(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
