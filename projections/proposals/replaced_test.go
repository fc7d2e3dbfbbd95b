package proposals_test

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/workflow/source"
)

// fileOf names a file with the id test.flow, by its place and its text.
func fileOf(kind source.SourceKind, ref, text string) proposal.Replaces {
	return proposal.Replaces{WorkflowID: "test.flow", SourceKind: kind, SourceRef: ref, Digest: canon.Sum([]byte(text))}
}

// replacing creates a proposal that replaces something, approves and applies it.
func (l *learning) replacing(n byte, r proposal.Replaces) id.Proposal {
	l.t.Helper()
	d := draftOf("test.flow", string(rune('a'+n)))
	d.Replaces = r
	p := l.create(n, "", d)
	a := proposal.Approve(proposalStore, l.at(p), l.consentTo(p))
	if !l.add(person, a) || !l.add(person, proposal.Apply(l.at(p), l.activation(l.get("", p), a.ApprovalID))) {
		l.t.Fatal(l.fold.Findings)
	}
	return p
}

// consentTo is the consent to the last revision.
func (l *learning) consentTo(p id.Proposal) proposal.Consent {
	c := consentOf(person, l.get("", p).Last().Artifact.SHA256)
	c.Replaces = l.get("", p).Last().Replaces
	return c
}

// files returns the texts of what a proposal is used instead of, by their places.
func (l *learning) files(p id.Proposal) string {
	var out []string
	for _, r := range l.fold.ReplacedFiles(p) {
		out = append(out, r.SourceRef+"@"+r.Digest.String()[7:11])
	}
	return strings.Join(out, " ")
}

// TestReplacedFilesStayReplaced: what took a slot from another installation is used instead of the files of that too;
// of one place the newest digest counts. A rollback goes back one step.
func TestReplacedFilesStayReplaced(t *testing.T) {
	digest := func(text string) string { return canon.Sum([]byte(text)).String()[7:11] }
	l := newLearning(t)
	first := l.replacing(1, fileOf("project", "a.yaml", "old"))
	want := func(what string, p id.Proposal, files string) {
		t.Helper()
		if got := l.files(p); got != files {
			t.Errorf("%s: %q, want %q", what, got, files)
		}
	}
	want("a file", first, "a.yaml@"+digest("old"))
	second := l.replacing(2, proposal.Replaces{WorkflowID: "test.flow", SourceKind: "installed", Digest: l.get("", first).Last().Artifact.SHA256})
	want("what is installed", second, "a.yaml@"+digest("old"))
	third := l.replacing(3, fileOf("project", "a.yaml", "new"))
	want("the file as it is now", third, "a.yaml@"+digest("new"))
	fourth := l.replacing(4, fileOf("user", "a.yaml", "users"))
	want("a file at another place", fourth, "a.yaml@"+digest("users")+" a.yaml@"+digest("new"))
	fifth := l.replacing(5, proposal.Replaces{})
	want("nothing named", fifth, "a.yaml@"+digest("users")+" a.yaml@"+digest("new"))
	if in := l.fold.Installed(""); len(in) != 1 || in[0].ProposalID != fifth || !in[0].Replaces.IsZero() {
		t.Errorf("%+v", in)
	}
	l.rollBack("", fifth)
	l.rollBack("", fourth)
	want("rolled back", fourth, "")
	if in := l.fold.Installed(""); len(in) != 1 || in[0].ProposalID != third || in[0].Replaces != fileOf("project", "a.yaml", "new") {
		t.Errorf("%+v", in)
	}
	// Below what is in use, one is rolled back: nothing changes.
	l.rollBack("", second)
	want("in use", third, "a.yaml@"+digest("new"))
	l.rollBack("", third)
	if in := l.fold.Installed(""); len(in) != 1 || in[0].ProposalID != first {
		t.Errorf("%+v", in)
	}
	l.rollBack("", first)
	if in := l.fold.Installed(""); len(in) != 0 {
		t.Errorf("%+v", in)
	}
	if len(l.fold.Findings) != 0 {
		t.Error(l.fold.Findings)
	}
}

// TestRecordsAboutAnotherReplacementAreIgnored: an approval and an activation are of what the last revision replaces.
func TestRecordsAboutAnotherReplacementAreIgnored(t *testing.T) {
	l := newLearning(t)
	d := draftOf("test.flow", "a")
	d.Replaces = fileOf("project", "a.yaml", "old")
	p := l.create(1, "", d)
	for name, r := range map[string]proposal.Replaces{"nothing": {}, "another file": fileOf("project", "b.yaml", "old"),
		"other bytes": fileOf("project", "a.yaml", "new")} {
		c := l.consentTo(p)
		c.Replaces = r
		if l.add(person, proposal.Approve(proposalStore, l.at(p), c)) {
			t.Errorf("an approval of %s was accepted", name)
		}
	}
	a := proposal.Approve(proposalStore, l.at(p), l.consentTo(p))
	if !l.add(person, a) || l.get("", p).Approvals[0].Replaces != d.Replaces || l.get("", p).PolicyApprovals()[0].Replaces != d.Replaces {
		t.Fatalf("%+v, %v", l.get("", p).Approvals, l.fold.Findings)
	}
	act := l.activation(l.get("", p), a.ApprovalID)
	act.Replaces = proposal.Replaces{}
	if l.add(person, proposal.Apply(l.at(p), act)) {
		t.Error("an activation that replaces nothing was accepted")
	}
	if !l.add(person, proposal.Apply(l.at(p), l.activation(l.get("", p), a.ApprovalID))) {
		t.Error(l.fold.Findings)
	}
}
