package engine_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// appendUnchecked appends an event that no decision of the engine makes, by the gate that every writer uses:
// the log itself is valid then.
func (w *fixture) appendUnchecked(a engine.Answer, scope event.Scope, data event.Payload, objects ...manifest.Object) {
	w.Helper()
	owner := a.Session.SessionID.String()
	w.appendAs(a, event.Domain, func(next int64) event.Event {
		return event.New(owner, next, scope, event.Actor{Kind: event.Engine}, 1, data)
	}, objects...)
}

// appendAs appends the event that is made for the next index, as a version with another table of kinds does.
func (w *fixture) appendAs(a engine.Answer, table *event.Table, of func(next int64) event.Event,
	objects ...manifest.Object) {
	w.Helper()
	log := manifest.SessionEvents(a.Session.SessionID)
	err := ports.WithHealthySession(context.Background(), w.g.Store, w.g.Store, log, manifest.Head{}, ports.Skip,
		func(wit ports.Witness, v manifest.Verdict) error {
			written := log
			written.Table = table
			_, err := w.g.Store.Append(context.Background(), wit, v.Head,
				manifest.Plan{Log: written, Events: []event.Event{of(v.Head.Next)}, Objects: objects})
			return err
		})
	if err != nil {
		w.Fatal(err)
	}
}

// findings verifies the whole store and collects what was found.
func (w *fixture) findings() (v verify.Verification, codes []manifest.FindingCode) {
	w.Helper()
	v, err := w.process().Verify(context.Background())
	if err != nil {
		w.Fatal(err)
	}
	for _, s := range v.Sessions {
		for _, f := range s.Findings {
			codes = append(codes, f.Code)
		}
	}
	for _, f := range v.Findings {
		codes = append(codes, f.Code)
	}
	return v, codes
}

func TestVerifyOfAHealthyStoreFindsNothing(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.must(w.must(w.start(twoSteps), note("no")), note("done"))
	w.start(longOne)
	if v, codes := w.findings(); !v.OK || len(codes) > 0 || len(v.Sessions) != 2 {
		t.Fatalf("%+v", v)
	}
}

func TestVerifyComparesEventsWithArtifacts(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*event.OutputPayload){
		"length": func(p *event.OutputPayload) { p.ByteLength++ },
		"kind":   func(p *event.OutputPayload) { p.ArtifactKind = "other" },
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			a := w.start(twoSteps)
			o := manifest.Object{Kind: manifest.Artifact, Bytes: set("kind", "report").JCS()}
			p := event.OutputPayload{PayloadKind: event.ArtifactRef, ArtifactKind: "report",
				ContentType: "application/json",
				ByteLength:  int64(len(o.Bytes)), SHA256: o.Ref()}
			change(&p)
			w.appendUnchecked(a, event.Scope{RunID: a.Session.RunID, NodeID: a.NodeID},
				event.NodeOutputAppended{OutputChannel: event.Artifact, OutputID: id.FromStart(a.NodeID).
					Output(0), Payload: p}, o)
			if v, codes := w.findings(); v.OK ||
				!slices.Equal(codes, []manifest.FindingCode{manifest.BrokenReference}) {
				t.Fatalf("%v", codes)
			}
		})
	}
}

func TestASnapshotOfAnotherFormIsOfUnknownVersion(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(twoSteps)
	o := manifest.Object{Kind: manifest.Snapshot,
		Bytes: []byte(`{"enginePayload":{"engineState":{"kind":"dreaming"},"v":1},"kind":"execution_snapshot","v":1}`)}
	w.appendUnchecked(a, event.Scope{RunID: a.Session.RunID, NodeID: id.RootNode(id.NewRun(id.Seed{9}))},
		event.NodeCreated{NodeKind: event.StepNode, ParentNodeID: &a.NodeID, SnapshotRef: o.Ref(),
			WorkflowHash: a.Workflow.WorkflowHash}, o)
	v, codes := w.findings()
	if !v.OK || !slices.Equal(codes, []manifest.FindingCode{manifest.UnknownEvents}) ||
		v.Sessions[0].Health != manifest.UnknownVersion {
		t.Fatalf("%+v", v)
	}
}

func TestUnreferencedObjectsAreNamed(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.start(twoSteps)
	data := []byte(`"left over"`)
	if err := os.WriteFile(w.dir+"/artifacts/"+canon.Sum(data).FileName(), data, 0o600); err != nil {
		t.Fatal(err)
	}
	v, codes := w.findings()
	if !v.OK || !slices.Equal(codes, []manifest.FindingCode{manifest.OrphanObject}) ||
		!strings.Contains(v.Findings[0].Path, "artifacts/") {
		t.Fatalf("%+v", v)
	}
}

func TestMissingObjectsAndUnbornSessionsAreReported(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(twoSteps)
	if err := os.MkdirAll(w.dir+"/sessions/"+id.NewSession(id.Seed{77}).String()+"/events", 0o700); err != nil {
		t.Fatal(err)
	}
	if v, codes := w.findings(); len(codes) > 0 || len(v.Sessions) != 1 {
		t.Fatalf("a session that was only begun counts: %+v", v)
	}
	if err := os.Remove(w.dir + "/workflows/pinned/" + a.Workflow.WorkflowHash.FileName() + ".json"); err != nil {
		t.Fatal(err)
	}
	if v, codes := w.findings(); v.OK || !slices.Equal(codes, []manifest.FindingCode{manifest.ObjectMissing}) {
		t.Fatalf("%v", codes)
	}
}

func TestOneUnreadableSessionDoesNotHideTheOthers(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a, b := w.start(twoSteps), w.start(longOne)
	events := w.dir + "/sessions/" + a.Session.SessionID.String() + "/events"
	name := events + "/00000000-00000004.jsonl"
	if _, err := os.Stat(name); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/null", name); err != nil {
		t.Skip("no symbolic links here")
	}
	v, _ := w.findings()
	if v.OK || len(v.Sessions) != 2 {
		t.Fatalf("%+v", v)
	}
	for _, s := range v.Sessions {
		if (s.SessionID == b.Session.SessionID) != (len(s.Findings) == 0) {
			t.Errorf("%s: %+v", s.SessionID, s.Findings)
		}
	}
}

// A directory that cannot be read does not keep the rest from being verified.
func TestVerifyContinuesAfterAnUnreadableDirectory(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"snapshots", "artifacts", "events"} {
		w := newFixture(t)
		w.must(w.start(twoSteps), note("no"))
		a := w.start(longOne)
		if folder == "events" {
			folder = "sessions/" + a.Session.SessionID.String() + "/events"
		}
		if err := errors.Join(os.RemoveAll(w.dir+"/"+folder), os.Symlink(t.TempDir(), w.dir+"/"+folder)); err != nil {
			t.Fatal(err)
		}
		if v, codes := w.findings(); v.OK || len(v.Sessions) != 2 || len(codes) == 0 {
			t.Errorf("%s: %+v", folder, v)
		}
	}
}

// A session whose beginning is damaged may hold the run that is searched for.
func TestARunMayBeInASessionWithADamagedBeginning(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(longOne)
	if err := os.RemoveAll(w.dir + "/sessions/" + a.Session.SessionID.String() + "/events"); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{engine.Last, a.Session.RunID.String()} {
		if _, err := w.process().Locate(context.Background(), ref); !fault.Is(err, fault.RunNotFound) ||
			!strings.Contains(err.Error(), "could not be read") {
			t.Errorf("%s: %v", ref, err)
		}
	}
}

// Finding a run by its name must not make an unhealthy session usable: the damage may precede the
// place where a second reading begins.
func TestLocatingARunDoesNotMakeItHealthy(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, harm := range map[string]func(w *fixture, log manifest.Log, head manifest.Head){
		"an event of a newer version": func(w *fixture, log manifest.Log, head manifest.Head) {
			e := event.New(log.Owner, head.Next, event.Scope{}, event.Actor{Kind: event.Engine}, 1,
				event.SessionCreated{})
			line, err := log.Table.AppendLine(nil, e)
			if err != nil {
				w.Fatal(err)
			}
			line = bytes.Replace(line, []byte(`"kind":"session_created"`), []byte(`"kind":"session_changed"`), 1)
			seg := manifest.Segment{First: head.Next, Last: head.Next, Bytes: line}
			f, err := os.OpenFile(w.dir+"/"+log.Root+"/manifest.jsonl", os.O_WRONLY|os.O_APPEND, 0)
			if err == nil {
				_, err = f.Write(manifest.Group(log, head, seg))
				err = errors.Join(err, f.Close(), os.WriteFile(w.dir+"/"+log.Root+"/events/"+seg.Name(), line, 0o600))
			}
			if err != nil {
				w.Fatal(err)
			}
		},
		"a lost tail": func(w *fixture, log manifest.Log, head manifest.Head) {
			if err := os.WriteFile(w.dir+"/"+log.Root+"/events/"+manifest.SegmentName(head.Next+5, head.Next+5), nil,
				0o600); err != nil {
				w.Fatal(err)
			}
		},
	} {
		w := newFixture(t)
		a := w.start(twoSteps)
		v, _ := w.findings()
		harm(w, manifest.SessionEvents(a.Session.SessionID), v.Sessions[0].Head)
		for _, ref := range []string{engine.Last, a.Session.RunID.String()} {
			g := w.process()
			at, err := g.Locate(ctx, ref)
			if err != nil {
				t.Fatal(name, err)
			}
			if _, err := g.Rehydrate(ctx, at); !fault.Is(err, fault.SessionUnhealthy) {
				t.Errorf("%s, %s: rehydrate returned %v", name, ref, err)
			}
			g = w.process()
			if at, err = g.Locate(ctx, ref); err != nil {
				t.Fatal(name, err)
			}
			if _, err := g.Advance(ctx, w.by(), at, a.AttemptID, note("no")); !fault.Is(err, fault.SessionUnhealthy) {
				t.Errorf("%s, %s: advance returned %v", name, ref, err)
			}
		}
	}
}
