package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/ports"
)

// TestAnnotationsHaveAuditLines: each annotation and each retraction has one line, with its actor
// and time, and without its text (docs/design.md#annotations).
func TestAnnotationsHaveAuditLines(t *testing.T) {
	t.Parallel()
	n := newAnnotationFixture(t)
	a := n.start(twoSteps)
	req := remark(feedback.Correction("say please"))
	req.Note, req.Target.NodeID = "the note", a.NodeID
	made := n.note(a, req)
	by := n.clock
	_, err := n.retract(a, made.AnnotationID)
	must(t, err)
	_, err = n.retract(a, made.AnnotationID) // is retracted already: no fact, no line
	must(t, err)
	n.want("annotate retract", "")
	list, err := n.g.AuditList(context.Background(), verify.AuditQuery{})
	must(t, err)
	annotated, taken := list.Entries[0], list.Entries[1]
	if annotated.Actor.Ref != "ada" || annotated.AtMs != by ||
		annotated.Target != (audit.Target{Kind: audit.OfRun, ID: a.Session.RunID.String()}) ||
		annotated.Details["annotationId"] != made.AnnotationID.String() ||
		annotated.Details["signal"] != "correction" ||
		annotated.Details["nodeId"] != a.NodeID.String() ||
		annotated.Source == nil || annotated.Source.Log != "annotations" ||
		annotated.Source.SessionID != a.Session.SessionID {
		t.Errorf("%+v", annotated)
	}
	if taken.Reason != "it was wrong" || taken.Details["annotationId"] != made.AnnotationID.String() {
		t.Errorf("%+v", taken)
	}
	if text := asJSON(t, list); strings.Contains(text, "please") || strings.Contains(text, "the note") {
		t.Errorf("the record holds the text of the annotation: %s", text)
	}
	// The next writer finds the log complete, and can append to it.
	must(t, n.withEveryPort().Ledger().Act(context.Background(), n.by(), ofStore(audit.GC), nothing))
	n.want("annotate retract gc", "")
}

// TestAuditLineOfAKilledWriterIsWrittenLater: the process died between an annotation and its line.
// A reader shows the line, and the next writer completes the log, each line once.
func TestAuditLineOfAKilledWriterIsWrittenLater(t *testing.T) {
	t.Parallel()
	n := newAnnotationFixture(t)
	a := n.start(twoSteps)
	dying := unaudited(n.process())
	made, err := dying.Annotate(context.Background(), n.by(), annotationSeed(1), a.Position(), remark(feedback.Flag()))
	must(t, err)
	_, err = dying.Retract(context.Background(), n.by(), a.Position(),
		learning.RetractRequest{Annotation: made.AnnotationID})
	must(t, err)
	n.want("annotate+ retract+", "audit_incomplete")
	n.made = 1
	n.note(a, remark(feedback.Flag()))
	n.want("annotate retract annotate", "")
	must(t, n.withEveryPort().Ledger().Act(context.Background(), n.by(), ofStore(audit.GC), nothing))
	n.want("annotate retract annotate gc", "")
}

// TestAuditVerifyFindsMissingAnnotations: a line that is gone or changed, an annotation that is
// gone, and all of them gone.
func TestAuditVerifyFindsMissingAnnotations(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		harm func(t *testing.T, n *annotationFixture, a engine.Answer)
		want string
	}{
		"the folder of annotations is deleted": {func(t *testing.T, n *annotationFixture,
			a engine.Answer) {
			must(t, os.RemoveAll(n.annotationsDir(a)))
		},
			"audit_unfounded audit_unfounded"},
		"the session is deleted by hand": {func(t *testing.T, n *annotationFixture, a engine.Answer) {
			must(t, os.RemoveAll(filepath.Dir(n.annotationsDir(a))))
		},
			"audit_session_missing audit_session_missing"},
		"the audit log is deleted": {func(t *testing.T, n *annotationFixture,
			_ engine.Answer) {
			must(t, os.RemoveAll(filepath.Join(n.dir, "audit")))
		},
			"audit_incomplete"},
		"a line is another": {func(t *testing.T, n *annotationFixture,
			_ engine.Answer) {
			n.flip("audit/events/00000001-00000001.jsonl", 40)
		},
			"audit_incomplete segment_damaged"},
		"the last annotation is cut off": {func(t *testing.T, n *annotationFixture, a engine.Answer) {
			name := filepath.Join(n.annotationsDir(a), "manifest.jsonl")
			b, err := os.ReadFile(name)
			must(t, err)
			must(t, os.WriteFile(name, b[:strings.LastIndex(string(b), `{"bytes":`)], 0o600))
		}, "audit_unfounded"},
		"the session is deleted on record": {func(t *testing.T, n *annotationFixture, a engine.Answer) {
			_, err := n.withEveryPort().
				DeleteSessions(context.Background(), n.by(),
					upkeep.DeleteRequest{Refs: []string{a.Session.SessionID.String()}})
			must(t, err)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			n := newAnnotationFixture(t)
			a := n.start(twoSteps)
			n.note(a, remark(feedback.Flag()))
			n.note(a, remark(feedback.Rating(3)))
			test.harm(t, n, a)
			if got := n.verified(); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestImportedAnnotationsHaveNoAuditLines: annotations of a bundle were made in another store; the
// audit log of this store records the ones made here.
func TestImportedAnnotationsHaveNoAuditLines(t *testing.T) {
	t.Parallel()
	for _, asNew := range []bool{false, true} {
		from := newAnnotationFixture(t)
		a := from.start(twoSteps)
		from.note(a, remark(feedback.Flag()))
		to := newAnnotationFixture(t)
		got := take(t, to.g, export(t, from.g, a.Session.SessionID, 1), asNew)
		at, err := to.g.Locate(context.Background(), got.Runs[0].RunID.String())
		must(t, err)
		// Without the mark of the import its audit record gives the number of imported annotations.
		must(t, os.Remove(filepath.Join(to.dir, "sessions", got.SessionID.String(), ports.ImportedFile.Name)))
		must(t, to.withEveryPort().Ledger().Act(context.Background(), to.by(), ofStore(audit.GC), nothing))
		to.want("gc import", "")
		to.made = 50
		made := listed(t, to.g, at.Run.String()).Annotations[0] // under a new id, if all ids are new
		_, err = to.try(to.by(), at, instead(made, feedback.Flag()))
		must(t, err)
		to.want("gc annotate import", "")
	}
}
