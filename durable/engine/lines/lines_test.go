package lines_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/lines"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports/porttest/big"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	"github.com/waybill/waybill/projections/runs"
)

// bigStore makes a store with one session of about so many events, in segments of about per; see big.Write.
func bigStore(t *testing.T, events, per int64) (dir string, s *filestore.Store) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "store")
	if _, err := big.Write(dir, events, per); err != nil {
		t.Fatal(err)
	}
	s, err := filestore.OpenDir(dir, filestore.Options{LockWait: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return dir, s
}

// read returns the lines of the latest run as Each passes them, and the health of its session.
func read(t *testing.T, s *filestore.Store) (string, manifest.Health) {
	t.Helper()
	var out bytes.Buffer
	v, err := lines.Each(context.Background(), session.NewReader(s), session.Last, func(line []byte) error {
		out.Write(line)
		out.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), v.Health
}

// TestLinesAreThoseOfTheEvents: with the head cache that an append leaves, without one, with one of a log that was
// longer, and of a damaged session.
func TestLinesAreThoseOfTheEvents(t *testing.T) {
	ctx := context.Background()
	dir, s := bigStore(t, 300, 0)
	e := enginetest.Over(s)
	at, err := e.Locate(ctx, session.Last)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := e.Rehydrate(ctx, at)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.CheckpointAt(ctx, engine.Caller{Actor: event.Actor{Kind: event.Agent}, AtMs: 1_767_300_000_000}, at,
		answer.CheckpointID, advance.Request{Notes: `in the notes: ,"scope":{"runId":"` + at.Run.String() + `"}`}); err != nil {
		t.Fatal(err)
	}
	e.Flush(ctx)
	if b, ok := e.Brief(ctx, at.Session, e.HeadKey(ctx)); !ok || b.Head.Next < 300 {
		t.Fatalf("no head cache: %+v", b)
	}
	check := func(what string) {
		t.Helper()
		events, v, err := e.Events(ctx, session.Last)
		if err != nil {
			t.Fatal(err)
		}
		var want []byte
		for _, ev := range events {
			if want, err = event.Domain.AppendLine(want, ev); err != nil {
				t.Fatal(err)
			}
		}
		if got, health := read(t, s); got != string(want) || health != v.Health {
			t.Errorf("%s: %d bytes of lines and %d of events, %s and %s", what, len(got), len(want), health, v.Health)
		}
	}
	check("with a head cache")
	root := filepath.Join(dir, filepath.FromSlash(manifest.SessionEvents(at.Session).Root))
	control, err := os.ReadFile(filepath.Join(root, manifest.FileName))
	if err != nil {
		t.Fatal(err)
	}
	// The groups of a lost tail.
	write := func(control []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, manifest.FileName), control, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	groups := bytes.SplitAfter(control, []byte("\n"))
	write(bytes.Join(groups[:len(groups)/2], nil))
	check("of a log that lost its tail")
	control[len(control)/2] ^= 1
	write(control)
	check("of a damaged log")
	control[len(control)/2] ^= 1
	write(control)
	if err := os.RemoveAll(filepath.Join(root, "cache")); err != nil {
		t.Fatal(err)
	}
	check("without a head cache")
}

// TestStreamsNeedConstantMemory: what is read of a session of three times as many events takes no more memory.
func TestStreamsNeedConstantMemory(t *testing.T) {
	ctx := context.Background()
	streams := map[string]func(r *session.Reader, v *views.Views, each func()) error{
		"events": func(r *session.Reader, _ *views.Views, each func()) error {
			_, err := lines.Each(ctx, r, session.Last, func([]byte) error { each(); return nil })
			return err
		},
		"timeline": func(_ *session.Reader, v *views.Views, each func()) error {
			_, err := views.EachMoment(ctx, v, session.Last, func(runs.TimelineEntry) error { each(); return nil })
			return err
		},
		"watch": func(_ *session.Reader, v *views.Views, each func()) error {
			f, err := v.Follow(ctx, session.Last, true)
			if err == nil {
				_, err = f.Next(ctx, func(facts []views.Fact) error {
					for range facts {
						each()
					}
					return nil
				})
			}
			return err
		},
	}
	streams["show"] = func(_ *session.Reader, v *views.Views, each func()) error {
		run, err := views.ReadRun(ctx, v, session.Last, "")
		if err == nil {
			_, err = run.Each(ctx, func(views.ShownStep) error {
				for range 5 { // the events of a step
					each()
				}
				return nil
			})
		}
		return err
	}
	short, long := int64(48_000), int64(96_000) // both have more than is read ahead or kept of snapshots
	used := map[string]map[int64]uint64{"events": {}, "timeline": {}, "watch": {}, "show": {}}
	for _, events := range []int64{short, long} {
		_, s := bigStore(t, events, 250)
		for name, stream := range streams {
			r := session.NewReader(s)
			var most uint64
			count := int64(0)
			if err := stream(r, views.New(r, s, views.Here{}), func() {
				if count++; count%1600 == 0 {
					most = max(most, heap())
				}
			}); err != nil || count < events {
				t.Fatalf("%s: %d of %d events, %v", name, count, events, err)
			}
			used[name][events] = most
		}
	}
	for name, is := range used {
		t.Logf("%s: %d KiB at %d events, %d KiB at %d", name, is[short]>>10, short, is[long]>>10, long)
		if float64(is[long]) > 1.3*float64(is[short]) {
			t.Errorf("%s: %d KiB in use at %d events, %d KiB at %d: want at most 1.3 times", name, is[long]>>10, long,
				is[short]>>10, short)
		}
	}
}

// heap is the memory in use, without garbage.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
