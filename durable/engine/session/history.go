package session

import (
	"context"
	"errors"
	"math"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// History is the fold of one session's log during one call. Reading replaces
// Fold where it belongs to another history, so a Resolved of it is valid only
// until the next reading.
type History struct {
	Session id.Session
	Log     manifest.Log
	Fold    *runs.Fold

	r *Reader
	// windowed bounds the fold of a reading by a window, for callers that need the newest nodes only.
	windowed bool
}

// NewHistory returns a history that has read nothing.
//
//go:noinline
func (r *Reader) NewHistory(s id.Session) *History {
	return &History{Session: s, Log: manifest.SessionEvents(s), Fold: runs.NewFold(), r: r}
}

// TakeHistory returns a history with the cached fold of a session, which it
// removes from the cache, or with an empty one. Two concurrent calls therefore
// never fold into one state; the second one starts from an empty fold. The
// caller returns the fold with Keep after success; a fold is dropped on error
// because it may be ahead of what was committed.
func (r *Reader) TakeHistory(s id.Session) *History {
	h := r.NewHistory(s)
	r.mu.Lock()
	defer r.mu.Unlock()
	if f, ok := r.folds[s]; ok {
		delete(r.folds, s)
		h.Fold = f
	}
	return h
}

// Keep caches a fold that reaches the head of its log, and writes it to the
// head cache once it is saveEvery segments ahead of the saved one. When the
// cache is full it is emptied: an evicted session costs one reading.
func (h *History) Keep() {
	f := h.Fold
	if f.Ahead >= saveEvery {
		f = h.r.saveHead(context.Background(), h.Session, f)
	}
	h.r.mu.Lock()
	defer h.r.mu.Unlock()
	if len(h.r.folds) >= foldsMax {
		clear(h.r.folds)
	}
	h.r.folds[h.Session] = f
}

// Read continues the fold to the end of its log and returns the log's verdict.
// If the log does not contain the fold's head, or the fold skipped an event that
// it needs, the log is read from the beginning.
func (h *History) Read(ctx context.Context) (manifest.Verdict, error) {
	v, err := ports.Continue(ctx, h.r.source, ports.ReadRequest{Log: h.Log, From: h.Fold.Head}, h.Visitor())
	if err == nil && h.Fold.Missed() {
		h.windowed = false
		return h.readAll(ctx)
	}
	return v, err
}

// readAll reads the log from its beginning.
func (h *History) readAll(ctx context.Context) (manifest.Verdict, error) {
	return h.r.source.Read(ctx, ports.ReadRequest{Log: h.Log}, h.Visitor())
}

// Visitor continues the fold, or replaces it by an empty one.
func (h *History) Visitor() ports.NewVisitor {
	into := ports.Into(&h.Fold, runs.NewFold)
	if !h.windowed {
		return into
	}
	return func(from manifest.Head) ports.Visitor {
		_ = into(from) // keeps the visitor in h.Fold
		return NewWindowed(h.Fold)
	}
}

// ReadSaved is Read for callers that continue a run and do not show its
// history: an empty fold starts from the head cache when that matches the log
// and the log is longer than shortLog. A log that ends before the head of its
// saved fold has lost acknowledged events, and its verdict is changed
// accordingly (docs/design.md#log-tail).
func (h *History) ReadSaved(ctx context.Context) (manifest.Verdict, error) {
	var claimed manifest.Head
	if h.Fold.Head.IsZero() {
		if saved, ok := h.r.SavedFold(ctx, h.Session); ok {
			claimed = saved.Head
			// The head of a short log is still compared, but its fold is not
			// used.
			if claimed.NextRecord > ShortLog {
				h.Fold = saved
			}
		}
	}
	v, err := h.Read(ctx)
	return LostTail(h.Log, v, claimed), err
}

// Healthy returns SESSION_UNHEALTHY with the findings for any verdict but
// healthy.
func (h *History) Healthy(v manifest.Verdict, err error) error {
	if err == nil && v.Health != manifest.Healthy {
		err = ports.Unhealthy(h.Log, v)
	}
	return err
}

// Open reads the session, requires it to be healthy and resolves a position. An
// incomplete saved fold is replaced by a full reading. Errors:
// SESSION_UNHEALTHY, TOKEN_UNKNOWN_NODE.
func (h *History) Open(ctx context.Context, at Position) (Resolved, error) {
	if err := h.Healthy(h.ReadSaved(ctx)); err != nil {
		return Resolved{}, err
	}
	p, err := Resolve(h.Fold, at)
	if errors.Is(err, errFoldIncomplete) {
		if err := h.Healthy(h.readAll(ctx)); err != nil {
			return Resolved{}, err
		}
		p, err = Resolve(h.Fold, at)
	}
	return p, err
}

// OpenStep opens a position at the node where the run continues. A token can
// name a checkpoint node; the run continues at its parent, so that is the
// returned node (docs/design.md#edges-and-tips).
func (h *History) OpenStep(ctx context.Context, at Position) (Resolved, error) {
	p, err := h.Open(ctx, at)
	if err != nil || p.Node.Kind != event.CheckpointNode || p.Node.Parent == nil {
		return p, err
	}
	at.Node = *p.Node.Parent
	return h.Open(ctx, at)
}

// OpenRun is Open for use cases that concern a run as a whole: the result has no
// node. Errors: SESSION_UNHEALTHY, RUN_NOT_FOUND.
func (h *History) OpenRun(ctx context.Context, at Position) (Resolved, error) {
	if err := h.Healthy(h.ReadSaved(ctx)); err != nil {
		return Resolved{}, err
	}
	return FindRun(h.Fold, at)
}

// Confirm makes durable what was read: an answer acknowledges it. A log that
// was replaced meanwhile is STORE_CONFLICT.
func (h *History) Confirm(ctx context.Context) error {
	err := h.r.source.Confirm(ctx, h.Log, h.Fold.Head)
	if err == nil {
		h.r.NoteDurable(h.Log, h.Fold.Head, false)
	}
	if errors.Is(err, manifest.ErrNotOnChain) {
		h.r.Drop(h.Session)
		return fault.Wrap(err, fault.StoreConflict, "session %s was moved away or replaced while it was read",
			h.Session)
	}
	return err
}

// ErrStopReading is the error of a visitor that has what it needs.
var ErrStopReading = errors.New("enough")

// Prefix returns the history up to and including the first segment for which
// last is true. INVARIANT if there is none: the caller read that segment before.
func (h *History) Prefix(ctx context.Context, last func(manifest.Segment) bool) (*History, error) {
	out := h.r.NewHistory(h.Session)
	_, err := h.r.source.Read(ctx, ports.ReadRequest{Log: h.Log}, func(from manifest.Head) ports.Visitor {
		fold := out.Visitor()(from)
		return ports.VisitorFunc(func(seg manifest.Segment, head manifest.Head) error {
			if err := fold.Visit(seg, head); err != nil {
				return err
			}
			if last(seg) {
				return ErrStopReading
			}
			return nil
		})
	})
	if errors.Is(err, ErrStopReading) {
		return out, nil
	}
	if err == nil {
		err = fault.New(fault.Invariant, "session %s does not hold a segment that was read before", h.Session)
	}
	return nil, err
}

// PrefixOf returns the history that ends with the segment of an event, whose
// events its fold has: itself, when that is the last segment and was read.
func (h *History) PrefixOf(ctx context.Context, index int64) (*History, error) {
	if index >= h.Fold.Last && h.Fold.LastSegment() != nil {
		return h, nil
	}
	return h.Prefix(ctx, func(seg manifest.Segment) bool { return seg.Last >= index })
}

// ReadWindowed reads a whole session into a fold with at most about
// FoldNodesMax nodes, so that a list of all runs needs little memory.
func (r *Reader) ReadWindowed(ctx context.Context, s id.Session) (*runs.Fold, manifest.Verdict, error) {
	return readWindowed(ctx, r, s, func() func(event.Event) { return func(event.Event) {} })
}

// ReadEach is ReadWindowed that also passes each event to what begin returns. If
// the log has to be read again, begin is called again. A log that lost its tail
// is reported as by ReadSaved.
func ReadEach(ctx context.Context, r *Reader, s id.Session, begin func() func(event.Event)) (*runs.Fold,
	manifest.Verdict, error) {
	claimed, _ := r.Brief(ctx, s, r.HeadKey(ctx))
	fold, v, err := readWindowed(ctx, r, s, begin)
	return fold, LostTail(manifest.SessionEvents(s), v, claimed.Head), err
}

// readWindowed is ReadEach, without the check of the log's tail.
func readWindowed(ctx context.Context, r *Reader, s id.Session, begin func() func(event.Event)) (*runs.Fold,
	manifest.Verdict, error) {
	fold := runs.NewFold()
	read := func(nodesMax int) (manifest.Verdict, error) {
		return r.source.Read(ctx, ports.ReadRequest{Log: manifest.SessionEvents(s)}, func(manifest.Head) ports.Visitor {
			fold = runs.NewFold()
			return &windowedFold{fold, nodesMax, begin()}
		})
	}
	v, err := read(FoldNodesMax)
	if err == nil && fold.Missed() {
		// An event refers to a dropped node. That is rare; the log is read
		// again without a window.
		v, err = read(math.MaxInt)
	}
	return fold, v, err
}

// windowedFold is a fold that is reduced to a window whenever it has too many
// nodes.
type windowedFold struct {
	*runs.Fold
	// nodesMax is the number of nodes at which a window is taken.
	nodesMax int
	each     func(event.Event)
}

// NewWindowed returns a visitor that continues a fold and keeps about FoldNodesMax nodes of it at most.
func NewWindowed(f *runs.Fold) ports.Visitor {
	return &windowedFold{f, FoldNodesMax, func(event.Event) {}}
}

// Visit implements ports.Visitor. It takes a window when the number of nodes
// exceeds nodesMax.
func (w *windowedFold) Visit(seg manifest.Segment, head manifest.Head) error {
	if err := w.Fold.Visit(seg, head); err != nil {
		return err
	}
	for _, e := range seg.Events {
		w.each(e)
	}
	w.nodesMax = Reduce(w.Fold, w.nodesMax)
	return nil
}

// Reduce replaces a fold of more than nodesMax nodes by a window of it. It returns the number of nodes at which to
// call it again.
func Reduce(f *runs.Fold, nodesMax int) int {
	if NodeCount(f) <= nodesMax {
		return nodesMax
	}
	// A window can be taken only if the dropped nodes are closed.
	window, ok := f.Window(runs.WindowNodes)
	if !ok {
		return 2 * nodesMax // too many nodes are open for a window; retried at twice as many
	}
	f.Session = window
	return nodesMax
}

// NodeCount is the number of nodes in a fold.
func NodeCount(f *runs.Fold) (n int) {
	for _, r := range f.Runs {
		n += len(r.Order)
	}
	return n
}
