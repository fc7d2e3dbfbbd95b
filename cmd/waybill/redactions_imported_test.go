package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// storeAnnotations writes annotations with a secret in each text into the store, which no command does.
func (p *planter) storeAnnotations(session id.Session, run id.Run, c plantedSecret) {
	p.Helper()
	storeEvents(p.T, filepath.Join(p.dir, "home", "local"), func(canon.Digest, canon.Digest) manifest.Plan {
		plan := manifest.Plan{Log: feedback.LogOf(session)}
		add := func(data event.Payload) {
			plan.Events = append(plan.Events, event.New(session.String(), int64(len(plan.Events)), event.Scope{RunID: run},
				event.Actor{Kind: event.Human, Ref: "ada " + c.text}, 5, data))
		}
		name := func(n byte) id.Annotation { return id.NewAnnotation(id.Seed{n}) }
		add(feedback.Recorded{AnnotationID: name(1), Note: c.text, Signal: feedback.Signal{Kind: feedback.CorrectionKind, Correction: c.text}})
		add(feedback.Recorded{AnnotationID: name(2), Signal: feedback.Signal{Kind: feedback.LabelKind, Label: c.text}})
		add(feedback.Recorded{AnnotationID: name(3), Note: c.text, Signal: feedback.Signal{Kind: feedback.RatingKind, Rating: 2}})
		add(feedback.Retracted{AnnotationID: name(3), Reason: c.text})
		return plan
	})
}

// TestImportedAnnotationsAreShownRedacted: annotations that came with a bundle are stored as they came. Nothing that reads
// them shows a secret of theirs; their authors are claims, a plain export warns, and a redacted one has no secret.
func TestImportedAnnotationsAreShownRedacted(t *testing.T) {
	cases := sample.OneIn(t, 6)
	for _, c := range plantedSecrets() {
		if cases.Try() {
			importsShowNone(t, c)
		}
	}
}

// importsShowNone imports annotations with a secret and reads them in every way.
func importsShowNone(t *testing.T, c plantedSecret) {
	t.Helper()
	p := newPlanter(t)
	var started struct {
		Data struct {
			Session struct {
				SessionID id.Session
				RunID     id.Run
			}
		}
	}
	p.decodes(&started, "start", "wr.demo", "--json")
	at := started.Data.Session
	p.storeAnnotations(at.SessionID, at.RunID, c)
	p.says(c, false, []string{"export", "@last", "-o", "b.json"})
	p.containsIt("b.json", c, true)
	// The annotations of a second import have other ids, and are shown like those of the first one.
	in := []string{"--store", "second"}
	for _, args := range [][]string{{"import", "b.json"}, {"import", "b.json", "--as-new"}} {
		if printed := p.says(c, false, append(args, in...)); !strings.Contains(strings.Join(strings.Fields(printed), " "),
			"SECRET_SUSPECTED: /session/logs/annotations/events/0/data/note (") {
			t.Errorf("%v: %s", args, printed)
		}
		list := p.says(c, false, append([]string{"annotations", "list", "@last", "--history"}, in...))
		if !strings.Contains(list, `says "ada `) || strings.Count(list, "(imported)") != 3 || !strings.Contains(list, "[REDACTED:") {
			t.Error(list)
		}
		if list := p.says(c, true, append([]string{"annotations", "list", "@last", "--history"}, in...)); strings.Count(list, `"imported":true`) != 3 {
			t.Error(list)
		}
		for _, asJSON := range []bool{false, true} {
			for _, view := range [][]string{{"annotations", "list", "@last", "--history", "--details"}, {"annotations", "summary"},
				{"annotations", "summary", "@last"}, {"runs", "show", "@last"}, {"runs", "list"}, {"runs", "timeline", "@last"},
				{"runs", "events", "@last"}, {"runs", "events", "@last", "--format", "openwop"}, {"resume"},
				{"continue", "--run", "@last"}, {"sessions", "list"}, {"audit", "list"}, {"verify"}, {"replay", "@last"}} {
				p.says(c, asJSON, append(view, in...))
			}
			p.says(c, asJSON, append([]string{"export", "@last", "-o", "debug.json", "--format", "openwop", "--force"}, in...))
			p.containsIt("debug.json", c, false)
		}
		printed := p.says(c, false, append([]string{"export", "@last", "-o", "plain.json", "--force"}, in...))
		if !strings.Contains(printed, "suspected secret: /session/logs/annotations/events/0/data/note (") || !strings.Contains(printed, "--redact") {
			t.Error(printed)
		}
		printed = p.says(c, true, append([]string{"export", "@last", "-o", "plain.json", "--force"}, in...))
		if !strings.Contains(printed, `"warnings":[{"code":"SECRET_SUSPECTED","pointer":"/session/logs/annotations/events/0/`) {
			t.Error(printed)
		}
		p.containsIt("plain.json", c, true)
		if printed := p.says(c, true, append([]string{"export", "@last", "--redact", "-o", "redacted.json", "--force"}, in...)); strings.Contains(printed, "SECRET_SUSPECTED") {
			t.Error(printed)
		}
		p.containsIt("redacted.json", c, false)
	}
	// An answer about one of them.
	for _, asJSON := range []bool{false, true} {
		p.says(c, asJSON, append([]string{"annotations", "retract", "@last", p.firstAnnotation(in)}, in...))
	}
}

// firstAnnotation returns the id of an annotation of the last run.
func (p *planter) firstAnnotation(in []string) string {
	p.Helper()
	var list struct {
		Data struct {
			Annotations []struct{ AnnotationID string }
		}
	}
	p.decodes(&list, append([]string{"annotations", "list", "@last", "--history", "--json"}, in...)...)
	return list.Data.Annotations[0].AnnotationID
}

// containsIt requires that a file has the secret, or that it has none.
func (p *planter) containsIt(name string, c plantedSecret, want bool) {
	p.Helper()
	b, err := os.ReadFile(name)
	if has := strings.Contains(string(b), c.needle); err != nil || has != want {
		p.Errorf("%s has the secret: %v, %v", name, has, err)
	}
}
