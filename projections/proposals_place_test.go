package projections_test

import (
	"testing"

	"github.com/waybill/waybill/durable/learning/proposal"
)

// templateDraft is a version of the one template.
func templateDraft(version, says string) proposal.Draft {
	d, err := proposal.ParseFile(
		[]byte(`{"kind":"prompt-template","artifact":{"templateId":"notes","kind":"user","text":"` + says +
			`","version":"` + version + `"}}`))
	if err != nil {
		panic(err)
	}
	return d
}

// TestVersionsOfATemplateHaveAPlaceEach: several are in use at a time; of the same version
// it is the newest. Of everything else a slot holds one, whatever its version.
func TestVersionsOfATemplateHaveAPlaceEach(t *testing.T) {
	l := newLearning(t)
	want := func(what string, versions ...string) {
		t.Helper()
		got := l.fold.Installed("")
		if len(got) != len(versions) {
			t.Fatalf("%s: %+v", what, got)
		}
		for i, v := range versions {
			if got[i].Version != v {
				t.Errorf("%s: %+v", what, got)
			}
		}
	}
	two, one := l.create(1, "", templateDraft("2.0.0", "b")), l.create(2, "", templateDraft("1.0.0", "a"))
	l.apply("", two)
	l.apply("", one)
	want("two versions", "1.0.0", "2.0.0")
	anew := l.create(3, "", templateDraft("1.0.0", "c"))
	if i := l.fold.Displaced(l.get("", anew)); i == nil || i.ProposalID != one {
		t.Errorf("it would take the place of %+v", i)
	}
	l.apply("", anew)
	want("one of them anew", "1.0.0", "2.0.0")
	if got := l.fold.Installed("")[0].ProposalID; got != anew {
		t.Errorf("in use is %s", got)
	}
	if got := l.fold.RestoredBy(l.get("", anew)); got != l.get("", one).Last().Artifact.SHA256 {
		t.Errorf("%s would come back", got)
	}
	l.rollBack("", anew)
	if got := l.fold.Installed("")[0].ProposalID; got != one {
		t.Errorf("in use is %s", got)
	}
	if got := l.fold.RestoredBy(l.get("", one)); !got.IsZero() {
		t.Errorf("%s would come back in the place of another version", got)
	}
	l.rollBack("", one)
	want("one rolled back", "2.0.0")
	other := l.create(4, "shop", templateDraft("2.0.0", "d"))
	if i := l.fold.Displaced(l.get("shop", other)); i != nil {
		t.Errorf("in another workspace it would take the place of %+v", i)
	}
}
