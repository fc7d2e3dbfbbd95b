package rewrite_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/travel/rewrite"
	"github.com/waybill/waybill/projections/runs"
)

var store = id.NewStore(id.Seed{77})

// few limits the number of checks, since each is a complete run; -rapid.checks N overrides
// it.
func few(t *testing.T, n string) {
	f := flag.Lookup("rapid.checks")
	if f.Value.String() != f.DefValue {
		return
	}
	_ = f.Value.Set(n)
	t.Cleanup(func() { _ = f.Value.Set(f.DefValue) })
}

// renamed is a log under new ids.
type renamed struct {
	*rewrite.Renaming
	from, to id.Session
	head     canon.Digest
	segments []manifest.Segment
	copies   *copies
}

func rename(t testing.TB, w *fixture, from id.Session, side ...[]byte) renamed {
	t.Helper()
	segments := read(t, w.store, manifest.SessionEvents(from))
	last := segments[len(segments)-1]
	r := renamed{from: from, head: canon.Sum(last.Group)}
	r.to = id.ImportedSession(store, r.head.String())
	r.Renaming = rewrite.NewRenaming(from, r.to, store, r.head)
	for _, seg := range segments {
		r.CollectReferences(seg.Events)
	}
	for _, line := range side {
		if err := r.CollectLineReferences(line); err != nil {
			t.Fatal(err)
		}
	}
	log := manifest.SessionEvents(r.to)
	r.copies = &copies{Store: w.store, log: log, segments: map[string][]byte{}}
	chain := rewrite.NewChain(log)
	for _, seg := range segments {
		before := line(t, seg.Events)
		events, err := r.Segment(seg.Events)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(before, line(t, seg.Events)) {
			t.Fatal("the arguments have changed")
		}
		out, err := chain.Next(events)
		if err != nil {
			t.Fatal(err)
		}
		if out.First != seg.First || out.Last != seg.Last {
			t.Fatalf("segment %s became %s", seg.Name(), out.Name())
		}
		r.segments = append(r.segments, out)
		r.copies.segments[out.Name()] = out.Bytes
		r.copies.manifest = append(r.copies.manifest, out.Group...)
	}
	if chain.Head().Bytes != int64(len(r.copies.manifest)) || chain.Head().Next != last.Last+1 {
		t.Fatalf("the head is %+v", chain.Head())
	}
	return r
}

func line(t interface{ Fatal(...any) }, events []event.Event) (out []byte) {
	for _, e := range events {
		var err error
		if out, err = event.Domain.AppendLine(out, e); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestImportAsNewIsEquivalent: a renamed log is healthy, has no dangling reference, contains
// no id of the old session except in importedFrom, and re-executes to the same bytes.
func TestImportAsNewIsEquivalent(t *testing.T) {
	few(t, "150")
	kinds := map[string]bool{}
	rapid.Check(t, func(rt *rapid.T) {
		w := newFixture(t)
		for _, session := range w.drive(rt) {
			r := rename(t, w, session)
			segments := read(t, r.copies, r.copies.log)
			for _, seg := range segments {
				for _, e := range seg.Events {
					kinds[e.Data.Kind()] = true
				}
			}
			for i, seg := range segments {
				if !bytes.Equal(seg.Group, r.segments[i].Group) {
					rt.Fatal("the chain is another")
				}
			}
			whole(rt, r.copies.log, segments)
			r.sameFold(rt, w)
			r.nothingLeft(rt)
			r.replays(rt, w)
		}
	})
	for _, kind := range event.Domain.Kinds() {
		if !kinds[kind] {
			t.Errorf("no run recorded a %s: it is not covered", kind)
		}
	}
}

// whole checks that every reference in the log has a target.
func whole(rt *rapid.T, log manifest.Log, segments []manifest.Segment) {
	refs := runs.NewReferences(log)
	for _, seg := range segments {
		_ = refs.Visit(seg, manifest.Head{})
	}
	if err := refs.Finish(func(visitor func() func(manifest.Segment) error) error {
		visit := visitor()
		for _, seg := range segments {
			_ = visit(seg)
		}
		return nil
	}); err != nil || len(refs.Findings) > 0 {
		rt.Fatalf("%v %+v", err, refs.Findings)
	}
}

// sameFold checks that the projections of the new log are those of the old one under the new
// ids.
func (r renamed) sameFold(rt *rapid.T, w *fixture) {
	was, is := folded(rt, read(w.t, w.store, manifest.SessionEvents(r.from))), folded(rt, r.segments)
	replace := []string{r.from.String(), r.to.String()}
	pairs := func(old, new []manifest.Segment) {
		for i := range old {
			for j := range old[i].Events {
				a, b := old[i].Events[j], new[i].Events[j]
				replace = append(replace, idsOf(a, b)...)
			}
		}
	}
	pairs(read(w.t, w.store, manifest.SessionEvents(r.from)), r.segments)
	if got := strings.NewReplacer(replace...).Replace(was); canonical(got) != canonical(is) {
		rt.Fatalf("the projections differ:\n%s\n%s", canonical(got), canonical(is))
	}
}

// canonical sorts the members of maps whose names are ids.
func canonical(s string) string { return string(parse(s).JCS()) }

func folded(rt *rapid.T, segments []manifest.Segment) string {
	f := runs.NewFold()
	for _, seg := range segments {
		_ = f.Visit(seg, manifest.Head{})
	}
	b, err := json.Marshal(f.Session)
	if err != nil {
		rt.Fatal(err)
	}
	return string(b)
}

// idsOf returns the pairs of old and new ids in two lines that differ in ids only.
func idsOf(a, b event.Event) (out []string) {
	x, _ := event.Domain.AppendLine(nil, a)
	y, _ := event.Domain.AppendLine(nil, b)
	var walk func(v, w canon.Value)
	walk = func(v, w canon.Value) {
		if v.Kind() == canon.String && v.Text() != w.Text() && len(v.Text()) < 40 {
			out = append(out, v.Text(), w.Text())
		}
		for i := range min(v.Len(), w.Len()) {
			walk(v.Item(i), w.Item(i))
		}
	}
	walk(parse(string(x)), parse(string(y)))
	return out
}

// nothingLeft checks that old ids occur in importedFrom only.
func (r renamed) nothingLeft(rt *rapid.T) {
	m := r.Mapping()
	old := map[string]string{m.Session.Old.String(): m.Session.New.String()}
	for _, p := range m.Runs {
		old[p.Old.String()] = p.New.String()
		if is, ok := r.Run(p.Old); !ok || is != p.New {
			rt.Fatal(p)
		}
	}
	for _, p := range m.Nodes {
		old[p.Old.String()] = p.New.String()
		if is, ok := r.Node(p.Old); !ok || is != p.New {
			rt.Fatal(p)
		}
	}
	seen := map[string]bool{}
	for was, is := range old {
		if seen[is] || was == is {
			rt.Fatalf("%s replaces two ids", is)
		}
		seen[is] = true
	}
	for i, seg := range r.segments {
		for j, e := range seg.Events {
			text := string(line(rt, []event.Event{e}))
			switch p := e.Data.(type) {
			case event.SessionCreated:
				if want := (event.ImportedFrom{StoreID: store, SessionID: r.from,
					Head: r.head}); p.ImportedFrom == nil || *p.ImportedFrom != want {
					rt.Fatalf("imported from %+v", p.ImportedFrom)
				}
				continue
			}
			for was := range old {
				if strings.Contains(text, was) {
					rt.Fatalf("segment %d, event %d names %s: %s", i, j, was, text)
				}
			}
		}
	}
}

// replays checks that the engine re-executes the new log without a difference.
func (r renamed) replays(rt *rapid.T, w *fixture) {
	run := r.Mapping().Runs[0].New
	report, err := replayer(r.copies).Replay(w.ctx, engine.Position{Session: r.to, Run: run})
	if err != nil || !report.OK {
		rt.Fatalf("%v %+v", err, report.Difference)
	}
	if report.Segments+int64(len(report.Undecided)) != int64(len(r.segments)) {
		rt.Fatalf("%+v", report)
	}
}

// TestRenamingTwice: the same import gives the same bytes; another store, or a second import,
// gives other ids. Both re-execute.
func TestRenamingTwice(t *testing.T) {
	few(t, "10")
	rapid.Check(t, func(rt *rapid.T) {
		w := newFixture(t)
		sessions := w.drive(rt)
		one, two := rename(t, w, sessions[0]), rename(t, w, sessions[0])
		if !bytes.Equal(one.copies.manifest, two.copies.manifest) {
			rt.Fatal("two renamings differ")
		}
		again := rewrite.NewRenaming(one.to, id.ImportedSession(store, "again"), store, one.head)
		for _, seg := range one.segments {
			again.CollectReferences(seg.Events)
		}
		chain := rewrite.NewChain(manifest.SessionEvents(id.ImportedSession(store, "again")))
		c := &copies{Store: w.store, log: manifest.SessionEvents(id.ImportedSession(store, "again")),
			segments: map[string][]byte{}}
		for _, seg := range one.segments {
			events, err := again.Segment(seg.Events)
			if err != nil {
				rt.Fatal(err)
			}
			out, err := chain.Next(events)
			if err != nil {
				rt.Fatal(err)
			}
			c.segments[out.Name()], c.manifest = out.Bytes, append(c.manifest, out.Group...)
		}
		report, err := replayer(c).
			Replay(w.ctx, engine.Position{Session: id.ImportedSession(store, "again"),
				Run: again.Mapping().Runs[0].New})
		if err != nil || !report.OK {
			rt.Fatalf("%v %+v", err, report.Difference)
		}
	})
}

// TestIDsWithoutDerivation: ids without a derivation are replaced by imported ones, and
// references stay intact.
func TestIDsWithoutDerivation(t *testing.T) {
	few(t, "20")
	rapid.Check(t, func(rt *rapid.T) {
		w := newFixture(t)
		session := w.drive(rt)[0]
		was := read(t, w.store, manifest.SessionEvents(session))
		// Every derived id is replaced by one without a derivation; references stay intact.
		mangle := map[string]string{}
		chain := rewrite.NewChain(manifest.SessionEvents(session))
		r := rewrite.NewRenaming(session, id.ImportedSession(store, "h"), store, canon.Sum(nil))
		out := rewrite.NewChain(manifest.SessionEvents(id.ImportedSession(store, "h")))
		var mangledSegs, segments []manifest.Segment
		for _, seg := range was {
			var events []event.Event
			for _, e := range seg.Events {
				events = append(events, mangled(rt, e, mangle))
			}
			mangledSeg, err := chain.Next(events)
			if err != nil {
				rt.Fatal(err)
			}
			mangledSegs = append(mangledSegs, mangledSeg)
			r.CollectReferences(events)
		}
		for _, mangledSeg := range mangledSegs {
			renamed, err := r.Segment(mangledSeg.Events)
			if err != nil {
				rt.Fatal(err)
			}
			newSeg, err := out.Next(renamed)
			if err != nil {
				rt.Fatal(err)
			}
			segments = append(segments, newSeg)
			for was := range mangle {
				if strings.Contains(string(newSeg.Bytes), mangle[was]) {
					rt.Fatalf("%s is left:\n%s", mangle[was], newSeg.Bytes)
				}
			}
		}
		whole(rt, manifest.SessionEvents(id.ImportedSession(store, "h")), segments)
		for _, p := range r.Mapping().Nodes {
			if p.New != p.Old.Imported(store, canon.Sum(nil).String()) {
				rt.Fatalf("%s became %s by a recipe that it does not follow", p.Old, p.New)
			}
		}
	})
}

// mangled replaces every derived id of an event by one without a derivation, everywhere in
// the same way.
func mangled(rt *rapid.T, e event.Event, mangle map[string]string) event.Event {
	raw := line(rt, []event.Event{e})
	var out []byte
	for i := 0; i < len(raw); {
		n := 0
		for _, prefix := range []string{"node_", "attempt_", "out_", "gap_", "chg_", "trace_", "ctx_", "capobs_",
			"div_", "evt_"} {
			if bytes.HasPrefix(raw[i:], []byte(prefix)) &&
				(i == 0 || !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz_", rune(raw[i-1]))) &&
				len(raw) > i+len(prefix)+26 &&
				strings.Trim(string(raw[i+len(prefix):i+len(prefix)+26]), "abcdefghijklmnopqrstuvwxyz234567") == "" {
				n = len(prefix) + 26
			}
		}
		if n == 0 {
			out, i = append(out, raw[i]), i+1
			continue
		}
		old := string(raw[i : i+n])
		is := old[:n-26] + "zz" + old[n-24:]
		mangle[old] = is
		out, i = append(out, is...), i+n
	}
	got, err := event.Domain.DecodeLine(bytes.TrimSuffix(out, []byte("\n")))
	if err != nil || got.Foreign() {
		rt.Fatalf("%v: %s", err, out)
	}
	return got
}
