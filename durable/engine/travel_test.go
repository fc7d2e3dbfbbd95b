package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/travel"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/travel/bundle"
	"github.com/waybill/waybill/infra/bundlefile"
	"github.com/waybill/waybill/ports/porttest/enginetest"
)

// TestABundleGivesTheSameSession: for any session, a bundle of it that is imported into an empty
// store gives the same projections, and the same bundle again except for its id and date; under new
// ids, the same except for those; and a second import adds nothing.
func TestABundleGivesTheSameSession(t *testing.T) {
	t.Parallel()
	all, err := parseScenarios(rich)
	if err != nil {
		t.Fatal(err)
	}
	fewWalks(t)
	rapid.Check(t, func(rt *rapid.T) {
		p := newPlayer(t, all[0])
		walk(rt, p)
		s := p.last.Session.SessionID
		if rapid.Bool().Draw(rt, "forked") {
			// The fork is a session of its own, and names the one that it came from.
			forked, err := p.g.ForkAt(p.ctx, engine.Caller{Actor: event.Actor{Kind: event.Human}, AtMs: p.clock},
				id.Seed{77},
				engine.Position{Session: s, Run: p.last.Session.RunID,
					Node: p.names["0"].NodeID}, engine.ForkRequest{})
			if err == nil {
				s = forked.Session.SessionID
			}
		}
		first := export(rt, p.g, s, 1)
		g := newFixture(t).g
		got := take(rt, g, first, false)
		if got.Relation != travel.NewSession || got.SessionID != s {
			rt.Fatalf("%+v", got)
		}
		if was, is := projected(rt, p.g, s), projected(rt, g, s); was != is {
			rt.Fatalf("the projections differ:\n%s\n%s", was, is)
		}
		again := export(rt, g, s, 2)
		if want := bytes.ReplaceAll(bytes.ReplaceAll(first, []byte(id.NewBundle(id.Seed{1}).String()),
			[]byte(id.NewBundle(id.Seed{2}).String())), []byte("at 1"), []byte("at 2")); !bytes.Equal(again, want) {
			rt.Fatal("the bundle of the import differs")
		}
		if again := take(rt, g, first, false); again.Relation != travel.Same {
			rt.Fatalf("once more: %+v", again)
		}
		fresh := take(rt, g, first, true)
		if fresh.Relation != travel.NewSession || fresh.SessionID == s || fresh.Mapping == nil {
			rt.Fatalf("as new: %+v", fresh)
		}
		if was, is := nameless(projected(rt, g, s)), nameless(projected(rt, g, fresh.SessionID)); was != is {
			rt.Fatalf("under new ids the projections differ:\n%s\n%s", was, is)
		}
		if twice := take(rt, g, first, true); twice.Relation != travel.Same || twice.SessionID != fresh.SessionID {
			rt.Fatalf("as new, once more: %+v", twice)
		}
		for _, run := range fresh.Runs {
			if r, err := g.Replay(p.ctx, engine.Position{Session: run.SessionID, Run: run.RunID,
				Node: run.Tips[0].NodeID}); err != nil || !r.OK {
				rt.Fatalf("the renamed run cannot be driven again: %+v, %+v, %v", r, r.Difference, err)
			}
		}
		if v, err := g.Verify(p.ctx); err != nil || !v.OK {
			rt.Fatalf("%+v, %v", v, err)
		}
	})
}

// walk plays a few moves, as TestAnyWalk does.
func walk(rt *rapid.T, p *player) {
	play := func(text string, below ...string) {
		s := statement{text: text}
		for _, b := range below {
			s.below = append(s.below, statement{text: b})
		}
		if err := p.when(s); err != nil {
			rt.Fatal(err)
		}
	}
	play("start")
	play("ack", things[13], things[2])
	play("ack", enough[1]...)
	play("approve")
	play("ack", rapid.SampledFrom(things[3:13]).Draw(rt, "first"))
	p.names["0"] = p.last
	for i := range rapid.IntRange(2, 9).Draw(rt, "moves") {
		switch move := rapid.IntRange(0, 10).Draw(rt, "move"); {
		case move == 0:
			play("look at " + fmt.Sprint(rapid.IntRange(0, i).Draw(rt, "to")))
		case move == 10:
			play("turn ends in " + rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "chat"))
		case p.last.Pending == nil:
		case move == 1:
			play("checkpoint notes so far")
		case move == 2:
			play("approve")
		default:
			if play("ack", enough[rapid.IntRange(0, len(enough)-1).Draw(rt, "which")]...); p.err == nil &&
				len(p.last.Blockers) > 0 {
				play("approve")
			}
		}
		p.names[fmt.Sprint(i+1)] = p.last
	}
}

func export(tb rapid.TB, g *enginetest.Engine, s id.Session, n byte) []byte {
	tb.Helper()
	var b bytes.Buffer
	if _, err := g.Export(context.Background(), id.Seed{n},
		travel.ExportRequest{Ref: s.String(), ExportedAt: fmt.Sprint("at ", n), AppVersion: "test"}, &b); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func take(tb rapid.TB, g *enginetest.Engine, data []byte, asNew bool) travel.Import {
	tb.Helper()
	b, err := bundlefile.Spool(context.Background(), bytes.NewReader(data), bundle.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	defer b.Close()
	out, err := g.Import(context.Background(), engine.Caller{Actor: event.Actor{Kind: event.Human},
		AtMs: 1_800_000_000_000}, b, travel.ImportRequest{AsNew: asNew})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

var tokens = regexp.MustCompile(`(st|ack|chk)\.v1\.[A-Za-z0-9._-]+`)

// approvals are the texts about an approval, which say whether it counts in this store.
var approvals = regexp.MustCompile("- A person [^\n]*$| \\(imported: it does not count here\\)")

// projected is everything that a store answers about a session, except for tokens.
func projected(tb rapid.TB, g *enginetest.Engine, s id.Session) string {
	tb.Helper()
	ctx := context.Background()
	var all []any
	list, err := g.Runs(ctx)
	if err != nil {
		tb.Fatal(err)
	}
	for _, row := range list.Runs {
		if row.SessionID != s {
			continue
		}
		ref := row.RunID.String()
		events, v, err := g.Events(ctx, ref)
		if err != nil {
			tb.Fatal(err)
		}
		var lines []byte
		for _, e := range events {
			if lines, err = event.Domain.AppendLine(lines, e); err != nil {
				tb.Fatal(err)
			}
		}
		shown, err := g.Run(ctx, ref)
		if err != nil {
			tb.Fatal(err)
		}
		// That a decision came with a bundle, and so does not count, is the one thing that an import adds.
		shown.Pending = nil
		for i := range shown.Decisions {
			shown.Decisions[i].Imported = false
		}
		for i := range shown.Approvals {
			shown.Approvals[i].Imported = false
		}
		for _, step := range shown.Steps {
			for i := range step.Decisions {
				step.Decisions[i].Imported = false
			}
			if step.Approval != nil {
				step.Approval.Imported = false
			}
			for i := range step.Decisions {
				step.Decisions[i].Imported = false
			}
		}
		timeline, err := timelineOf(g, ref)
		if err != nil {
			tb.Fatal(err)
		}
		graph, err := g.Graph(ctx, ref)
		if err != nil {
			tb.Fatal(err)
		}
		at, err := g.Locate(ctx, ref)
		if err != nil {
			tb.Fatal(err)
		}
		answer, err := g.Rehydrate(ctx, at)
		if err != nil {
			tb.Fatal(err)
		}
		// An approval from another store does not count, so that the next call may differ, and says so.
		answer.NextIntent, answer.Next = "", nil
		if answer.Pending != nil {
			answer.Pending.RequireConfirmation, answer.Pending.Approval = nil, nil
			answer.Pending.Prompt = approvals.ReplaceAllString(answer.Pending.Prompt, "")
		}
		answer.Recap = approvals.ReplaceAllString(answer.Recap, "")
		all = append(all, string(lines), v.Health, row, shown, timeline, graph, answer)
	}
	b, err := json.MarshalIndent(all, "", " ")
	if err != nil || len(all) == 0 {
		tb.Fatal(err, len(all))
	}
	return strings.ReplaceAll(tokens.ReplaceAllString(string(b), "$1"), `\u003e`, ">")
}

var (
	anID        = regexp.MustCompile(`\b(sess|run|node|evt|attempt|out|gap|chg|trace|ctx|capobs|div)_[a-z2-7]{26}\b`)
	cameFrom    = regexp.MustCompile(`\\"importedFrom\\":\{[^}]*\}`)
	aHead       = regexp.MustCompile(`(?s)"(head|Head)": \{[^}]*\}`)
	importOf    = regexp.MustCompile(`\s*"importedFrom": \{[^}]*\},?`)
	wasImported = regexp.MustCompile(`The session was imported from sess_[a-z2-7]{26}`)
)

// nameless puts a number in place of each id, in the order in which they appear, and leaves out
// what an import as new must change.
func nameless(text string) string {
	known := map[string]string{}
	text = wasImported.ReplaceAllString(aHead.ReplaceAllString(importOf.ReplaceAllString(cameFrom.ReplaceAllString(text, ""), ""), ""),
		"The session was created")
	return anID.ReplaceAllStringFunc(text, func(s string) string {
		if known[s] == "" {
			known[s] = fmt.Sprint(s[:strings.IndexByte(s, '_')], len(known))
		}
		return known[s]
	})
}

// TestForeignBundlesAreImportedUnchanged tries the published bundles of another program.
func TestForeignBundlesAreImportedUnchanged(t *testing.T) {
	t.Parallel()
	names, _ := filepath.Glob("../../../shared/data/workrail/bundles/*.json")
	if len(names) == 0 {
		t.Skip("the bundles of another program are not here")
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		w := newFixture(t)
		got := take(t, w.g, data, false)
		if got.Relation != travel.NewSession || got.Health != "unknown_version" || len(got.Runs) != 1 ||
			got.Runs[0].StateToken != "" {
			t.Errorf("%s: %+v", name, got)
		}
		if v, err := w.g.Verify(context.Background()); err != nil || !v.OK {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
		back := export(t, w.g, got.SessionID, 1)
		if again := take(t, newFixture(t).g, back, false); again.Head != got.Head {
			t.Errorf("%s: exported again, its head is %s, want %s", name, again.Head, got.Head)
		}
		b, err := bundlefile.Spool(context.Background(), bytes.NewReader(data), bundle.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.g.Import(context.Background(), w.by(), b, travel.ImportRequest{AsNew: true}); !fault.Is(err,
			fault.BundleCollision) {
			t.Errorf("%s: under new ids: %v", name, err)
		}
		_ = b.Close()
	}
}
