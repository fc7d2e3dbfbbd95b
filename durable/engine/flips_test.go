package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// everything is an engine with all its ports over a tree in memory.
func everything(f osfs.FS) (*enginetest.Engine, error) {
	s, err := filestore.Open(f, filestore.Options{Locks: lock.NewMemory().On(f), Boot: "boot",
		Random: rand.NewChaCha8([32]byte{1}), Now: func() time.Time { return time.UnixMilli(1_760_000_000_000) }})
	if err != nil {
		return nil, err
	}
	return over(s), nil
}

// sampleStore is a small store that holds one of everything a store can hold.
type sampleStore struct {
	tree  *flatFS
	heads map[string]manifest.Head // the last groups, by manifest
	// The answers that were given, and the calls that gave them.
	asked   []func(*enginetest.Engine) (engine.Answer, error)
	reports []string
}

func newSampleStore(t *testing.T) *sampleStore {
	t.Helper()
	disk := crashfs.New()
	g, err := everything(disk)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(err)
	ctx, w := context.Background(), newFixture(t)
	start := func(seed byte, source string) engine.Answer {
		a, err := g.Start(ctx, caller(1), id.Seed{seed},
			engine.Start{Workflow: w.compiled(source), SourceKind: event.SourceProject, SourceRef: "t.json",
				Context: set("what", "it")})
		must(err)
		return a
	}
	e := &sampleStore{heads: map[string]manifest.Head{}}
	report, secret := advance.JSONArtifact(set("kind", "report")), advance.JSONArtifact(set("kind", "secret"))
	first := start(1, twoSteps)
	for _, req := range []advance.Request{note("no"),
		{Notes: "done", Context: set("more", "x"), Artifacts: []advance.Artifact{report, secret}}} {
		call := continueCall(first, req)
		a, err := call(g)
		must(err)
		e.asked = append(e.asked, call)
		first = a
	}
	again := continueCall(first, advance.Request{})
	e.asked = append(e.asked, func(g *enginetest.Engine) (engine.Answer,
		error) {
		return g.Rehydrate(ctx, first.Position())
	}, again)
	second := start(2, longOne)
	human := engine.Caller{Actor: event.Actor{Kind: event.Human, Ref: "sam"}, AtMs: 3}
	_, err = g.KeepSession(ctx, human, upkeep.KeepRequest{Ref: first.Session.SessionID.String(),
		Reason: "shown to people"})
	must(err)
	_, err = g.EraseArtifact(ctx, human, canon.Sum(secret.Bytes), "a secret")
	must(err)
	must(g.Set(ctx, "lockWaitMs", "100"))
	must(g.Set(ctx, "retentionDays", "7"))
	_, err = g.Trust(ctx, human, w.compiled(twoSteps), "/repo", trust.Fixed{}, nil)
	must(err)
	must(g.Store.UpdateSessionControl(ctx, second.Session.SessionID, ports.ImportedFile,
		func(ports.Control) (ports.Control, error) {
			return ports.Control{V: 1, Data: imported.Mark{AtMs: 1, BundleID: "bundle_x", Events: 2,
				Head: canon.Sum(nil)}.Value()}, nil
		}))
	_, err = g.Annotate(ctx, human, id.Seed{3}, first.Position(), remark(feedback.Correction("say please")))
	must(err)
	must(installsOne(t, g, human, first.Session.RunID))
	g.Flush(ctx)
	e.tree = flat(disk.Files())
	e.sideLog(t, first.Session.SessionID)
	e.learn(t)
	return e
}

// sideLog adds two groups of a log whose kinds are unknown to this version.
func (e *sampleStore) sideLog(t *testing.T, s id.Session) {
	log, head := manifest.SessionSide(s, event.Opaque("remarks", "sessionId")), manifest.Head{}
	var control []byte
	for i := range int64(2) {
		line := fmt.Appendf(nil, `{"data":{"note":"well done"},"eventIndex":%d,"kind":"annotated","sessionId":"%s"}`+
			"\n", i, s)
		seg, err := manifest.DecodeSegment(log, i, i, line)
		if err != nil {
			t.Fatal(err)
		}
		group := manifest.Group(log, head, seg)
		head, control = head.After(group, seg), append(control, group...)
		e.tree = e.tree.with(log.Root+"/events/"+seg.Name(), line)
	}
	e.tree = flat(e.tree.with(log.Root+"/manifest.jsonl", control).files)
}

// learn records the heads and the answers of the undamaged store.
func (e *sampleStore) learn(t *testing.T) {
	for name, data := range e.tree.files {
		if path.Base(name) != manifest.FileName {
			continue
		}
		at := bytes.LastIndex(data, []byte(`{"bytes":`))
		e.heads[name] = manifest.Head{GroupAt: int64(at), Bytes: int64(len(data))}
	}
	for _, ask := range e.asked {
		e.reports = append(e.reports, e.ask(t, e.tree, ask))
	}
	for _, o := range []verify.VerifyOptions{{}, {Digests: true}} {
		g, err := everything(e.tree.with("x", nil).without("x"))
		if err != nil {
			t.Fatal(err)
		}
		v, err := g.VerifyWith(context.Background(), o)
		if err != nil || !v.OK || len(v.Sessions) != 2 {
			t.Fatalf("%+v, %v", v, err)
		}
	}
}

func (f *flatFS) without(name string) *flatFS { delete(f.files, name); return f }

// ask is an answer as its caller sees it, or its error's code behind a "!".
func (e *sampleStore) ask(t testing.TB, tree *flatFS, ask func(*enginetest.Engine) (engine.Answer, error)) string {
	g, err := everything(flat(tree.files))
	if err != nil {
		return "!" + string(fault.CodeOf(err))
	}
	a, err := ask(g)
	if err != nil {
		return "!" + string(fault.CodeOf(err))
	}
	return text(t, a)
}

// truth are the files that hold records: locks, notes and caches hold nothing that is relied on.
func (e *sampleStore) truth() (names []string) {
	for name := range e.tree.files {
		if !strings.HasPrefix(path.Base(name), ".") && !strings.Contains(name, "cache/") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// change is one file with one change to it.
type change struct {
	name string
	at   int
	cut  bool // the file ends there
}

func (c change) to(data []byte) []byte {
	if c.cut {
		return data[:c.at]
	}
	out := bytes.Clone(data)
	out[c.at] ^= 1
	return out
}

func (e *sampleStore) changes() (out []change) {
	for _, name := range e.truth() {
		for i := range e.tree.files[name] {
			out = append(out, change{name, i, true}, change{name, i, false})
		}
	}
	return out
}

// eachChange tries a sample of the changes, several at a time.
func (e *sampleStore) eachChange(t *testing.T, try func(c change, tree *flatFS) (wrong string)) {
	all := e.changes() // a cut and a flip at each byte
	chosen := slices.Collect(sample.OneIn(t, 120).Of(len(all)))
	var next atomic.Int64
	var done sync.WaitGroup
	var mu sync.Mutex
	wrong := 0
	for range runtime.GOMAXPROCS(0) {
		done.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(chosen)); i = next.Add(1) - 1 {
				c := all[chosen[i]]
				if why := try(c, e.tree.with(c.name, c.to(e.tree.files[c.name]))); why != "" {
					mu.Lock()
					if wrong++; wrong <= 20 {
						t.Errorf("%s at %d of %d, cut %v: %s", c.name, c.at, len(e.tree.files[c.name]), c.cut, why)
					}
					mu.Unlock()
				}
			}
		})
	}
	done.Wait()
	t.Logf("%d of %d changes to %d files", len(chosen), len(all), len(e.truth()))
	if wrong > 20 {
		t.Errorf("and %d more", wrong-20)
	}
}

// Every flipped byte and every truncation of every file with records is found, except for a
// truncation within the last group of a log, or of exactly that group: it is indistinguishable from
// an append that was never acknowledged (docs/design.md#log-tail).
func TestEveryChangedByteOfAStoreIsFound(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("tens of thousands of verifications")
	}
	e := newSampleStore(t)
	for _, o := range []verify.VerifyOptions{{}, {Digests: true}} {
		e.eachChange(t, func(c change, tree *flatFS) string {
			if o.Digests && sample.Exhaustive() && c.at%32 > 0 && c.at%32 != 11 {
				return "" // every change is tried on what decodes; what only hashes sees each alike
			}
			g, err := everything(tree)
			if err == nil {
				var v verify.Verification
				if v, err = g.VerifyWith(context.Background(), o); err == nil {
					last, isLog := e.heads[c.name]
					torn := isLog && c.cut && int64(c.at) >= last.GroupAt
					if v.OK && !torn { // a cut end may be known all the same: from a cache, or the audit log
						return fmt.Sprintf("digests %v: nothing was found, %+v", o.Digests, v.Findings)
					}
					return ""
				}
			}
			if fault.ExitOf(err) != fault.ExitIntegrity {
				return err.Error()
			}
			return ""
		})
	}
}

// With a changed byte a call has the same answer as before, or an error.
func TestNoChangedByteChangesAnAnswer(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("tens of thousands of answers")
	}
	e := newSampleStore(t)
	e.eachChange(t, func(c change, tree *flatFS) string {
		for i, ask := range e.asked {
			if (i+c.at)%2 == 1 {
				continue // each change is tried with half of the calls, its neighbours with the others
			}
			if got := e.ask(t, tree, ask); got != e.reports[i] && !strings.HasPrefix(got, "!") {
				return fmt.Sprintf("call %d is answered\n%s\nin place of\n%s", i, got, e.reports[i])
			}
		}
		return ""
	})
}
