package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// annotatedRun is a run on a disk in memory with a growing number of annotations.
type annotatedRun struct {
	*testing.T
	disk *crashfs.FS
	at   engine.Position
	made int
}

func newAnnotatedRun(t *testing.T) *annotatedRun {
	h := &annotatedRun{T: t, disk: crashfs.New()}
	a, err := startCall(newFixture(t).compiled(twoSteps))(withAllPorts(storeOn(t, h.disk)))
	must(t, err)
	h.at = a.Position()
	return h
}

// fill adds annotations up to a number, each in a group of its own: what that many calls would have
// left, except for caches and lines of the audit log.
func (h *annotatedRun) fill(until int) {
	h.Helper()
	s, ctx := storeOn(h, h.disk), context.Background()
	log := manifest.SessionSide(h.at.Session, feedback.Table)
	err := ports.WithHealthySession(ctx, s, s, log, manifest.Head{}, ports.Skip,
		func(w ports.Witness, v manifest.Verdict) error {
			head := v.Head
			for ; h.made < until; h.made++ {
				data := feedback.Record(id.NewAnnotation(annotationSeed(h.made)),
					remark(feedback.Rating(int64(1+h.made%5))), feedback.Location{NodeID: h.at.Node, StepID: "first"})
				e := event.New(log.Owner, head.Next, event.Scope{RunID: h.at.Run},
					event.Actor{Kind: event.Human, Ref: "ada"}, int64(h.made), data)
				var err error
				if head, err = s.Append(ctx, w, head, manifest.Plan{Log: log, Events: []event.Event{e}}); err != nil {
					return err
				}
			}
			return nil
		})
	must(h.T, err)
}

// process is a process of its own, and a count of what it requests of the disk.
func (h *annotatedRun) process() (*enginetest.Engine, *diskRequests) {
	c := &diskRequests{FS: h.disk}
	return withAllPorts(storeOver(h, h.disk, c)), c
}

// diskRequests counts requests of the disk. Several goroutines may send them: long logs are read in
// parallel.
type diskRequests struct {
	osfs.FS
	opened, listed, read, written atomic.Int64 // files, entries of folders, bytes
}

func (c *diskRequests) Open(name string, mode osfs.Mode) (osfs.File, error) {
	f, err := c.FS.Open(name, mode)
	if err == nil {
		c.opened.Add(1)
		f = requestsFile{f, c}
	}
	return f, err
}

func (c *diskRequests) List(name string) ([]osfs.Entry, error) {
	out, err := c.FS.List(name)
	c.listed.Add(int64(len(out)))
	return out, err
}

type requestsFile struct {
	osfs.File
	c *diskRequests
}

func (f requestsFile) ReadAt(p []byte, at int64) (int, error) {
	n, err := f.File.ReadAt(p, at)
	f.c.read.Add(int64(n))
	return n, err
}

func (f requestsFile) Write(p []byte) (int, error) {
	f.c.written.Add(int64(len(p)))
	return f.File.Write(p)
}

func (c *diskRequests) String() string {
	return fmt.Sprintf("%d files opened, %d bytes read, %d written, %d entries listed", c.opened.Load(), c.read.Load(),
		c.written.Load(), c.listed.Load())
}

// annotate finds the run and annotates it, as one command does.
func (h *annotatedRun) annotate() *diskRequests {
	h.Helper()
	g, c := h.process()
	at, err := g.Locate(context.Background(), h.at.Run.String()[:12])
	must(h.T, err)
	_, err = g.Annotate(context.Background(), caller(9), annotationSeed(h.made), at, remark(feedback.Flag()))
	must(h.T, err)
	h.made++
	return c
}

func (h *annotatedRun) sumUp(q learning.SummaryQuery) (int64, *diskRequests) {
	h.Helper()
	g, c := h.process()
	out, err := g.SummarizeAnnotations(context.Background(), q)
	must(h.T, err)
	return out.Runs[0].Annotations, c
}

// TestAnnotationCostDoesNotGrowWithTheirNumber counts what one process opens and reads to annotate
// a run, to sum it up, and to record an act on the store.
func TestAnnotationCostDoesNotGrowWithTheirNumber(t *testing.T) {
	t.Parallel()
	many := 2000
	switch {
	case sample.Exhaustive():
		many = 10_000
	case testing.Short():
		many = 1000
	}
	h := newAnnotatedRun(t)
	for range 20 { // a short log is read whole, however much its first groups hold
		g, _ := h.process()
		must(t, g.Ledger().Act(context.Background(), caller(1), ofStore(audit.GC), nothing))
	}
	costOf := map[int]map[string]*diskRequests{}
	for _, n := range []int{100, many} {
		h.fill(n)
		h.annotate() // finds no cache of all these, and leaves one
		sum, summary := h.sumUp(learning.SummaryQuery{})
		one, single := h.sumUp(learning.SummaryQuery{Run: h.at.Run.String()})
		if sum != int64(h.made) || one != sum {
			t.Errorf("of %d annotations %d and %d are counted", h.made, sum, one)
		}
		g, act := h.process()
		must(t, g.Ledger().Act(context.Background(), caller(1), ofStore(audit.GC), nothing))
		costOf[n] = map[string]*diskRequests{"annotate": h.annotate(), "sum up": summary, "sum one run up": single,
			"another act": act}
	}
	for what, few := range costOf[100] {
		more := costOf[many][what]
		t.Logf("%s: with 100 %v; with %d %v", what, few, many, more)
		// The beginning of a log is read ahead, by a bounded number of bytes.
		if more.opened.Load() > few.opened.Load() || more.listed.Load() > few.listed.Load() ||
			more.read.Load() > few.read.Load()+64<<10 || more.written.Load() > few.written.Load()+1<<10 {
			t.Errorf("%s: with %d annotations %v; with 100 %v", what, many, more, few)
		}
	}
	// A page is read from all annotations, since any may have been retracted: each once.
	g, c := h.process()
	page, err := g.Annotations(context.Background(), h.at.Run.String(), learning.AnnotationQuery{Limit: 10})
	if err != nil || len(page.Annotations) != 10 || c.opened.Load() > int64(h.made+50) {
		t.Errorf("%v: %d rows, %d files opened", err, len(page.Annotations), c.opened.Load())
	}
	v, err := g.AuditVerify(context.Background())
	if err != nil || !v.OK || v.Events < int64(many) {
		t.Errorf("%v: ok %v, %d lines, %d findings", err, v.OK, v.Events, len(v.Findings))
	}
}

// TestSumsAreRightForAnyCache: saved sums are a shortcut, and never an answer by themselves.
func TestSumsAreRightForAnyCache(t *testing.T) {
	t.Parallel()
	n := newAnnotationFixture(t)
	a, b := n.start(twoSteps), n.start(twoSteps)
	cache := func(of engine.Answer) string {
		return filepath.Join(n.dir, "sessions", of.Session.SessionID.String(), "cache/annotations-1")
	}
	read := func(of engine.Answer) []byte {
		data, err := os.ReadFile(cache(of))
		must(t, err)
		return data
	}
	var made []feedback.Annotation
	var caches [][]byte
	for i := range 40 {
		made = append(made, n.note(a, remark(feedback.Rating(int64(1+i%5)))))
		n.note(b, remark(feedback.Flag()))
		caches = append(caches, read(a))
	}
	_, err := n.retract(a, made[0].AnnotationID)
	must(t, err)
	caches = append(caches, read(a))
	n.note(a, instead(made[1], feedback.Rating(5)))
	q := learning.SummaryQuery{Run: a.Session.RunID.String()}
	want := n.sumUp(q)
	list := n.list(a, learning.AnnotationQuery{})
	if len(list.Annotations) != 39 || want != "39 of test.two; 0 incomplete" {
		t.Fatal(want, len(list.Annotations))
	}
	exact := func() string {
		out, err := n.withEveryPort().SummarizeAnnotations(context.Background(), q)
		must(t, err)
		return asJSON(t, out)
	}
	truth, good := exact(), read(a)
	forged := append([]byte{}, good...)
	for i := len(forged) - 40; i < len(forged); i++ {
		if forged[i] >= '1' && forged[i] <= '9' {
			forged[i] ^= 1
		}
	}
	for name, data := range map[string][]byte{"none": nil, "forged": forged, "another session's": read(b),
		"half": good[:len(good)/2], "twice": append(append([]byte{}, good...), good...),
		"from the beginning": caches[0], "from before what was retracted": caches[30],
		"from before what was superseded": caches[40], "right": good} {
		if must(t, os.RemoveAll(cache(a))); data != nil {
			must(t, os.WriteFile(cache(a), data, 0o600))
		}
		if got := exact(); got != truth {
			t.Errorf("%s: %s\nwant %s", name, got, truth)
		}
		// An annotation that is added over such a cache leaves sums that are right, and that the
		// next one continues from.
		extra := n.note(a, remark(feedback.Flag()))
		g := n.withEveryPort()
		c := &counted{Store: g.Store}
		g = enginetest.Over(c)
		out, err := g.SummarizeAnnotations(context.Background(), q)
		if err != nil || out.Runs[0].Flags != 1 || out.Runs[0].Annotations != 40 || c.sessions > 5 {
			t.Errorf("%s: after one more %+v, %v, from %d segments", name, out, err, c.sessions)
		}
		_, err = n.retract(a, extra.AnnotationID)
		must(t, err)
	}
}
