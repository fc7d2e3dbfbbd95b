//go:build unix

package pgstore_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/inbox"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/engine/pausing"
	"github.com/waybill/waybill/durable/engine/travel"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	"github.com/waybill/waybill/projections/runs"
)

// ada is the caller of all calls.
var ada = engine.Caller{Actor: event.Actor{Kind: event.Human, Ref: "ada"}, Account: "1000", AtMs: 1000}

// The workflows of the runs that the use cases are about: steps of a person, and a command.
const (
	ofPerson = `{"id":"test.w","name":"W","description":"d","version":"1.0.0","steps":[
 {"id":"one","title":"One","prompt":"p"},
 {"id":"two","title":"Two","prompt":"p","requireConfirmation":{"kind":"human_approval"}}]}`
	ofCommand = `{"id":"test.c","name":"C","description":"d","version":"1.0.0","steps":[
 {"id":"one","title":"One","action":{"kind":"command","argv":["true"]}},
 {"id":"two","title":"Two","prompt":"p"}]}`
)

// started starts a run.
func started(g *enginetest.Engine, workflow string, seed byte) (engine.Answer, error) {
	_, w, problems := compile.File("w.json", source.SourceProject, []byte(workflow))
	if source.HasErrors(problems) {
		return engine.Answer{}, fault.New(fault.Internal, "%v", problems)
	}
	return g.Start(context.Background(), ada, id.Seed{seed}, engine.Start{Workflow: w, SourceKind: event.SourceProject, SourceRef: "w.json"})
}

// given starts a run of steps of a person.
func given(t testing.TB, g *enginetest.Engine) engine.Answer {
	a, err := started(g, ofPerson, 1)
	fatal(t, err)
	return a
}

// report is an artifact.
var report = advance.JSONArtifact(canon.OfMembers(canon.Member{Name: "kind", Value: canon.OfString("report")}))

// advanced performs the pending step.
func advanced(g *enginetest.Engine, a engine.Answer) (engine.Answer, error) {
	return g.Advance(context.Background(), ada, a.Position(), a.AttemptID, advance.Request{Notes: "done", Artifacts: []advance.Artifact{report}})
}

// after adds a call to what is prepared.
func after(prepare func(testing.TB, *enginetest.Engine) engine.Answer, call func(*enginetest.Engine, engine.Answer) error) func(testing.TB,
	*enginetest.Engine) engine.Answer {
	return func(t testing.TB, g *enginetest.Engine) engine.Answer {
		a := prepare(t, g)
		fatal(t, call(g, a))
		return a
	}
}

// hasAdvanced is a run whose second step is pending.
func hasAdvanced(t testing.TB, g *enginetest.Engine) engine.Answer {
	a, err := advanced(g, given(t, g))
	fatal(t, err)
	return a
}

// engineCases are the use cases: first those that append to a session, then those about sessions, and views.
func engineCases() []engineCase {
	return append(append(sessionCases(), storeCases()...), viewCases()...)
}

// sessionCases are use cases that append to a session.
func sessionCases() []engineCase {
	ctx := context.Background()
	remark := feedback.Request{Create: feedback.Create{Signal: feedback.Flag()}}
	pause := func(g *enginetest.Engine, a engine.Answer) (any, error) {
		return g.Pauses.Pause(ctx, ada, a.Position(), pausing.Request{Reason: "lunch"})
	}
	return []engineCase{
		{name: "start", prepare: func(testing.TB, *enginetest.Engine) engine.Answer { return engine.Answer{} },
			call: func(g *enginetest.Engine, _ engine.Answer) (any, error) {
				a, err := started(g, ofPerson, 1)
				return a.Position(), err
			}},
		{name: "start with a key", prepare: given, call: func(g *enginetest.Engine, _ engine.Answer) (any, error) {
			_, w, _ := compile.File("w.json", source.SourceProject, []byte(ofCommand))
			a, err := g.Start(ctx, ada, id.Seed{7}, engine.Start{Workflow: w, SourceKind: event.SourceProject, SourceRef: "w.json", Key: "k"})
			return a.Position(), err
		}},
		{name: "continue", prepare: given, call: func(g *enginetest.Engine, a engine.Answer) (any, error) {
			next, err := g.Continue(ctx, ada, engine.Continue{StateToken: a.StateToken, AckToken: a.AckToken,
				Request: advance.Request{Notes: "done", Artifacts: []advance.Artifact{report}}})
			return next.Position(), err
		}},
		{name: "continue, blocked", prepare: hasAdvanced, call: func(g *enginetest.Engine, a engine.Answer) (any, error) {
			next, err := advanced(g, a)
			return next.Blockers, err
		}},
		{name: "checkpoint", prepare: given, call: func(g *enginetest.Engine, a engine.Answer) (any, error) {
			next, err := g.Checkpoint(ctx, ada, engine.CheckpointCall{StateToken: a.StateToken, CheckpointToken: a.CheckpointToken,
				Request: advance.Request{Notes: "half"}})
			return next.Position(), err
		}},
		{name: "approve", prepare: after(hasAdvanced, func(g *enginetest.Engine, a engine.Answer) error { _, err := advanced(g, a); return err }),
			call: func(g *enginetest.Engine, a engine.Answer) (any, error) {
				next, err := g.Approve(ctx, ada, a.Position(), "good")
				return next.Position(), err
			}},
		{name: "fork", prepare: hasAdvanced, call: func(g *enginetest.Engine, a engine.Answer) (any, error) {
			next, err := g.ForkAt(ctx, ada, id.Seed{7}, a.Position(), engine.ForkRequest{Title: "Other"})
			return next.Position(), err
		}},
		{name: "pause", prepare: given, call: pause},
		{name: "resume", prepare: after(given, func(g *enginetest.Engine, a engine.Answer) error { _, err := pause(g, a); return err }),
			call: func(g *enginetest.Engine, a engine.Answer) (any, error) {
				return g.Pauses.Resume(ctx, ada, a.Position(), pausing.Request{})
			}},
		{name: "cancel", prepare: given, call: func(g *enginetest.Engine, a engine.Answer) (any, error) {
			return g.Cancel(ctx, ada, g.Store.Performers(), a.Position(), engine.CancelRequest{Reason: "no"})
		}},
		{name: "annotate", prepare: hasAdvanced, call: func(g *enginetest.Engine, a engine.Answer) (any, error) {
			made, err := g.AnnotateOnce(ctx, ada, "key", a.Position(), remark)
			return made.AnnotationID, err
		}},
		{name: "work", prepare: func(t testing.TB, g *enginetest.Engine) engine.Answer {
			a, err := started(g, ofCommand, 1)
			fatal(t, err)
			return a
		}, call: worked, again: fault.RunNotFound},
	}
}

// worked claims a run and performs its command, as a worker does.
func worked(g *enginetest.Engine, _ engine.Answer) (any, error) {
	ctx := context.Background()
	c, err := g.Work.Claim(ctx, ports.WorkQuery{NowMs: 2000})
	switch {
	case err != nil:
		return nil, err
	case c.Run.IsZero() && len(c.Rest.Left) > 0:
		return nil, c.Rest.Left[0].Err
	case c.Run.IsZero():
		return nil, fault.New(fault.RunNotFound, "there is no run to perform")
	}
	performers, release := ports.Claimed(c)
	defer release()
	var done engine.Position
	err = ports.WithHold(ctx, performers, c.Session, func(h ports.Hold) error {
		at, err := g.Locate(ctx, c.Run.String())
		if err != nil {
			return err
		}
		a, err := g.Rehydrate(ctx, at)
		if err != nil {
			return err
		}
		digest := command.ArgvDigest(source.Action{Argv: []string{"true"}})
		result, err := canon.ValueOf(command.Result{Kind: command.Kind, ArgvDigest: digest, Tries: 1, OutputDigest: canon.Sum(nil),
			Stdout: &command.Stream{}, Stderr: &command.Stream{}})
		if err != nil {
			return err
		}
		next, err := g.Perform(ctx, h, ada, a.Position(), a.AttemptID, advance.Request{Artifacts: []advance.Artifact{advance.JSONArtifact(result)}})
		done = next.Position()
		return err
	})
	return done, err
}

// storeCases are use cases about sessions and what they refer to.
func storeCases() []engineCase {
	ctx := context.Background()
	remove := func(g *enginetest.Engine, a engine.Answer) (any, error) {
		out, err := g.DeleteSessions(ctx, ada, upkeep.DeleteRequest{Refs: []string{a.Session.SessionID.String()}, Reason: "old"})
		return len(out.Sessions), err
	}
	removed := after(hasAdvanced, func(g *enginetest.Engine, a engine.Answer) error { _, err := remove(g, a); return err })
	return []engineCase{
		{name: "settings", prepare: given, made: fault.PolicyUnconfirmed, call: func(g *enginetest.Engine, _ engine.Answer) (any, error) {
			return nil, g.Set(ctx, "retentionDays", "7")
		}},
		{name: "keep a session", prepare: given, call: func(g *enginetest.Engine, a engine.Answer) (any, error) {
			out, err := g.KeepSession(ctx, ada, upkeep.KeepRequest{Ref: a.Session.SessionID.String(), Reason: "evidence"})
			return out.Kept, err
		}},
		{name: "delete a session", prepare: hasAdvanced, call: remove, again: fault.SessionNotFound},
		{name: "restore a session", prepare: removed, again: fault.SessionNotFound, call: func(g *enginetest.Engine, a engine.Answer) (any, error) {
			out, err := g.RestoreSession(ctx, ada, a.Session.SessionID.String())
			return out.SessionID, err
		}},
		{name: "cleanup", prepare: removed, parts: true, call: func(g *enginetest.Engine, _ engine.Answer) (any, error) {
			out, err := g.GC(ctx, ada, upkeep.GCRequest{Apply: true, EmptyTrash: true})
			if err == nil && len(out.Skipped) > 0 {
				err = fault.New(fault.StoreUnreachable, "%s", out.Skipped[0].Message)
			}
			return nil, err
		}},
		{name: "erase an artifact", prepare: hasAdvanced, call: func(g *enginetest.Engine, _ engine.Answer) (any, error) {
			out, err := g.EraseArtifact(ctx, ada, canon.Sum(report.Bytes), "secret")
			return out.SHA256, err
		}},
		{name: "hand over", prepare: hasAdvanced, call: func(g *enginetest.Engine, a engine.Answer) (any, error) {
			out, err := g.HandOver(ctx, ada, a.Session.SessionID.String(), "there")
			return out.SessionID, err
		}},
		{name: "push", prepare: func(testing.TB, *enginetest.Engine) engine.Answer { return engine.Answer{} },
			call: func(g *enginetest.Engine, _ engine.Answer) (any, error) { return pushed(g, false) }},
		{name: "push more", prepare: func(t testing.TB, g *enginetest.Engine) engine.Answer {
			_, err := pushed(g, false)
			fatal(t, err)
			return engine.Answer{}
		}, call: func(g *enginetest.Engine, _ engine.Answer) (any, error) { return pushed(g, true) }},
	}
}

// elsewhere returns a store in memory with a run that has one step more or less.
func elsewhere(more bool) (*enginetest.Engine, engine.Answer, error) {
	g := enginetest.InMemory(memstore.NewDisk(id.Seed{9}).Open(time.Second))
	a, err := started(g, ofPerson, 3)
	if err == nil && more {
		_, err = advanced(g, a)
	}
	return g, a, err
}

// pushed imports the run of another store, as push and pull do.
func pushed(g *enginetest.Engine, more bool) (any, error) {
	from, a, err := elsewhere(more)
	if err != nil {
		return nil, err
	}
	return sent(from, g, a)
}

// sent sends a run from one store to another one.
func sent(from, to *enginetest.Engine, a engine.Answer) (any, error) {
	src, err := from.Source(context.Background(), id.Seed{7}, a.Session.RunID.String())
	if err != nil {
		return nil, err
	}
	out, err := to.Import(context.Background(), ada, src, travel.ImportRequest{From: travel.Origin{Path: "/source"},
		Accept: func(context.Context, travel.Import) error { return nil }})
	return out.SessionID, err
}

// viewCases change nothing of the store.
func viewCases() []engineCase {
	ctx := context.Background()
	all := []engineCase{
		{name: "pull", prepare: hasAdvanced, call: func(g *enginetest.Engine, a engine.Answer) (any, error) {
			to := enginetest.InMemory(memstore.NewDisk(id.Seed{8}).Open(time.Second))
			if _, err := sent(g, to, a); err != nil {
				// Nothing arrived, or all of it.
				if all, listed := to.Sessions(ctx); listed != nil || len(all) != 0 {
					return nil, fault.Wrap(err, fault.Internal, "%v, and the target has %v, %v", err, all, listed)
				}
				return nil, err
			}
			v, err := to.VerifySession(ctx, a.Session.SessionID.String())
			return v.Sessions[0].Head, err
		}},
		{name: "export", prepare: hasAdvanced, call: func(g *enginetest.Engine, a engine.Answer) (any, error) {
			var b bytes.Buffer
			_, err := g.Export(ctx, id.Seed{7}, travel.ExportRequest{Ref: a.Session.SessionID.String()}, &b)
			return canon.Sum(b.Bytes()), err
		}},
		{name: "verify", prepare: hasAdvanced, call: func(g *enginetest.Engine, _ engine.Answer) (any, error) {
			v, err := g.Verify(ctx)
			return v, err
		}},
		{name: "inbox", prepare: hasAdvanced, call: func(g *enginetest.Engine, _ engine.Answer) (any, error) {
			return inbox.New(g.Reader, g.Store, g.Views, g.Learning).List(ctx, inbox.Query{})
		}},
		{name: "list", prepare: hasAdvanced, call: func(g *enginetest.Engine, _ engine.Answer) (any, error) { return g.Runs(ctx) }},
		{name: "show", prepare: hasAdvanced, call: func(g *enginetest.Engine, a engine.Answer) (any, error) {
			return g.Run(ctx, a.Session.RunID.String())
		}},
		{name: "timeline", prepare: hasAdvanced, call: func(g *enginetest.Engine, a engine.Answer) (any, error) {
			var all []runs.TimelineEntry
			h, err := views.EachMoment(ctx, g.Views, a.Session.RunID.String(), func(m runs.TimelineEntry) error { all = append(all, m); return nil })
			h.Moments = all
			return h, err
		}},
		{name: "annotations", prepare: hasAdvanced, call: func(g *enginetest.Engine, a engine.Answer) (any, error) {
			return g.Annotations(ctx, a.Session.RunID.String(), learning.AnnotationQuery{})
		}},
		{name: "audit log", prepare: hasAdvanced, call: func(g *enginetest.Engine, _ engine.Answer) (any, error) {
			return g.AuditList(ctx, verify.AuditQuery{})
		}},
	}
	for i := range all {
		all[i].views = true
	}
	return all
}
