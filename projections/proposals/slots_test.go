package proposals_test

import (
	"testing"

	"github.com/waybill/waybill/durable/learning/proposal"
)

// templateDraft returns a draft of one version of the template.
func templateDraft(version, says string) proposal.Draft {
	d, err := proposal.ParseFile(
		[]byte(`{"kind":"prompt-template","artifact":{"templateId":"notes","kind":"user","text":"` + says +
			`","version":"` + version + `"}}`))
	if err != nil {
		panic(err)
	}
	return d
}

// Several versions of a template are installed at once; of one version only the newest. Slots of
// other kinds have one installation, of any version.
func TestTemplateVersionsAreInstalledSideBySide(t *testing.T) {
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
	newer := l.create(3, "", templateDraft("1.0.0", "c"))
	if i := l.fold.InstalledInSlot(l.get("", newer)); i == nil || i.ProposalID != one {
		t.Errorf("displaced: %+v", i)
	}
	l.apply("", newer)
	want("a new revision of one of them", "1.0.0", "2.0.0")
	if got := l.fold.Installed("")[0].ProposalID; got != newer {
		t.Errorf("installed: %s", got)
	}
	if got := l.fold.RestoredDigest(l.get("", newer)); got != l.get("", one).Last().Artifact.SHA256 {
		t.Errorf("restored: %s", got)
	}
	l.rollBack("", newer)
	if got := l.fold.Installed("")[0].ProposalID; got != one {
		t.Errorf("installed: %s", got)
	}
	if got := l.fold.RestoredDigest(l.get("", one)); !got.IsZero() {
		t.Errorf("restored in place of another version: %s", got)
	}
	l.rollBack("", one)
	want("one rolled back", "2.0.0")
	other := l.create(4, "shop", templateDraft("2.0.0", "d"))
	if i := l.fold.InstalledInSlot(l.get("shop", other)); i != nil {
		t.Errorf("in another workspace, displaced: %+v", i)
	}
}
