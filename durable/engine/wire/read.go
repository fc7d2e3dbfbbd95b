package wire

import (
	"cmp"
	"context"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/redact"
)

// Page is a part of the events of a run.
type Page struct {
	Events []openwop.RunEvent
	// Status is that of the run after the last event so far, which Events may not reach.
	Status openwop.Status
	// Last is the sequence of the last event so far, -1 for none.
	Last int64
	// Health is that of the log: of a damaged one the events before the damage are read.
	Health manifest.Health
}

// Each passes the events of a run to visit, page by page: those behind a sequence, -1 for all. It returns the
// page without events. Errors: RUN_NOT_FOUND, RUN_AMBIGUOUS, those of reading, that of visit.
func (w *Wire) Each(ctx context.Context, ref string, after int64, visit func([]openwop.RunEvent) error) (Page, error) {
	f, err := w.Follow(ctx, ref)
	if err != nil {
		return Page{}, err
	}
	err = f.drain(ctx, func(events []openwop.RunEvent) error { return visit(behind(events, after)) })
	return f.page(nil), err
}

// behind returns the events with a larger sequence.
func behind(events []openwop.RunEvent, after int64) []openwop.RunEvent {
	at, _ := slices.BinarySearchFunc(events, after+1, func(e openwop.RunEvent, s int64) int { return int(e.Sequence - s) })
	return events[at:]
}

// page describes what was read.
func (f *Follower) page(events []openwop.RunEvent) Page {
	return Page{Events: events, Status: f.log.Status(), Last: f.log.Next() - 1, Health: f.health}
}

// Events returns at most limit events of a run behind a sequence, -1 for those from the first. A caller that
// polls pays for what is new.
func (w *Wire) Events(ctx context.Context, ref string, after int64, limit int) (Page, error) {
	p, err := w.Locate(ctx, ref)
	if err != nil {
		return Page{}, err
	}
	var out []openwop.RunEvent
	collect := func(events []openwop.RunEvent) error {
		events = behind(events, after)
		out = append(out, events[:min(len(events), limit-len(out))]...)
		return nil
	}
	s := w.share(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.f.log.Next() > after+1 {
		// What the shared projection passed already is read again, by one of its own.
		f := w.FollowAt(p)
		err = f.drain(ctx, collect)
		s.f = f
	} else {
		err = s.f.drain(ctx, collect)
	}
	w.keep(s)
	return s.f.page(out), err
}

// Snapshot returns the state of a run, and the health of its log. Errors: RUN_NOT_FOUND, RUN_AMBIGUOUS, those
// of reading.
func (w *Wire) Snapshot(ctx context.Context, ref string) (openwop.Snapshot, manifest.Health, error) {
	p, err := w.Locate(ctx, ref)
	if err != nil {
		return openwop.Snapshot{}, "", err
	}
	s := w.share(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.f.drain(ctx, func([]openwop.RunEvent) error { return nil }); err != nil {
		return openwop.Snapshot{}, "", err
	}
	w.keep(s)
	out, err := s.f.Snapshot(ctx)
	return out, s.f.health, err
}

// share returns the projection that calls about a run share. Of many runs some are forgotten.
func (w *Wire) share(p Place) *shared {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.recent[p.Run]
	if s == nil {
		if len(w.recent) >= recentMax {
			for run := range w.recent {
				delete(w.recent, run)
				break
			}
		}
		s = &shared{f: w.FollowAt(p)}
		w.recent[p.Run] = s
	}
	return s
}

// keep forgets a shared projection that is too large to be kept.
func (w *Wire) keep(s *shared) {
	if s.f.log.Nodes() <= recentNodesMax {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.recent[s.f.Run] == s {
		delete(w.recent, s.f.Run)
	}
}

// Snapshot is the state of the run after the events that Next returned.
func (f *Follower) Snapshot(ctx context.Context) (openwop.Snapshot, error) {
	out := f.log.Snapshot()
	out.EngineVersion = cmp.Or(out.EngineVersion, f.w.about.Version)
	if f.w.about.Tenancy == nil {
		return out, nil
	}
	tenant, err := f.w.about.Tenancy.Tenant(ctx)
	if err != nil || tenant == "" {
		return out, err
	}
	out.Owner = &openwop.Owner{Tenant: tenant}
	return out, nil
}

// Annotation returns an annotation of the run as clients read it: its target names a node as the run events
// that Next returned do, and texts of other programs are redacted.
func (f *Follower) Annotation(a feedback.Annotation) (canon.Value, error) {
	v, err := canon.ValueOf(a)
	if err != nil {
		return v, err
	}
	v = redact.Value(v, nil)
	target, _ := v.Get("target")
	if text, ok := f.log.NodeID(a.Target.NodeID); ok {
		v = v.With("target", target.With("nodeId", canon.OfString(text)))
	}
	return v, nil
}

// Bundle returns the debug bundle of a run with annotations of it. at is the time of the bundle as RFC 3339.
// Errors as of Snapshot.
func (w *Wire) Bundle(ctx context.Context, ref, at string, annotations []feedback.Annotation) (openwop.DebugBundle, error) {
	f, err := w.Follow(ctx, ref)
	if err != nil {
		return openwop.DebugBundle{}, err
	}
	var kept openwop.BundleEvents
	err = f.drain(ctx, func(events []openwop.RunEvent) error {
		for _, e := range events {
			if err := kept.Add(e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return openwop.DebugBundle{}, err
	}
	run, err := f.Snapshot(ctx)
	if err != nil {
		return openwop.DebugBundle{}, err
	}
	notes := make([]canon.Value, len(annotations))
	for i, a := range annotations {
		if notes[i], err = f.Annotation(a); err != nil {
			return openwop.DebugBundle{}, err
		}
	}
	return openwop.NewDebugBundle(at, openwop.Host{Name: "waybill", Version: w.about.Version}, run, &kept, notes)
}
