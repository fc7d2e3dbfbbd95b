package memstore

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/ports"
)

var _ ports.Briefs = (*Store)(nil)

// brief is the brief of a session at a head of its events.
type brief struct {
	manifest.Brief
	head manifest.Head
}

// Briefs implements ports.Briefs.
func (s *Store) Briefs(ctx context.Context, q ports.BriefQuery) ([]ports.BriefSession, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	var out []ports.BriefSession
	var selected []*manifest.BriefRun
	for root, l := range s.disk.logs {
		session, err := id.ParseSession(strings.TrimPrefix(root, "sessions/"))
		if err != nil || !strings.HasPrefix(root, "sessions/") || len(l.manifest) == 0 {
			continue
		}
		one := ports.BriefSession{Session: session, Marked: !s.disk.controls[root+"/"+ports.KeepFile.Name].Data.IsNull()}
		b, ok := s.disk.briefs[session]
		if one.Changed = !ok || !s.disk.isPresent(session, b); !one.Changed {
			one.Head, one.Runs = b.head, slices.Clone(b.Runs)
		}
		out = append(out, one)
	}
	for i := range out {
		for k := range out[i].Runs {
			if r := &out[i].Runs[k]; isSelected(r, q) {
				selected = append(selected, r)
			}
		}
	}
	sorting.By(selected, compareBriefs)
	if q.Limit > 0 && len(selected) > q.Limit {
		selected = selected[:q.Limit]
	}
	chosen := map[id.Run]bool{}
	for _, r := range selected {
		chosen[r.ID] = true
	}
	for i := range out {
		out[i].Runs = slices.DeleteFunc(out[i].Runs, func(r manifest.BriefRun) bool { return !chosen[r.ID] })
	}
	if q.Selects() {
		out = slices.DeleteFunc(out, func(b ports.BriefSession) bool { return !b.Changed && len(b.Runs) == 0 })
	}
	sorting.By(out, func(a, b ports.BriefSession) int { return a.Session.Compare(b.Session) })
	return out, nil
}

// EachBrief implements ports.Briefs.
func (k keeper) EachBrief(ctx context.Context, q ports.BriefQuery, visit func(*ports.BriefSession, *manifest.BriefRun) error) error {
	all, err := k.s.Briefs(ctx, q)
	if err != nil {
		return err
	}
	type selected struct {
		of  *ports.BriefSession
		run *manifest.BriefRun
	}
	var listed []selected
	for i := range all {
		of := &all[i]
		if of.Changed {
			if err := visit(of, nil); err != nil {
				return err
			}
		}
		for k := range of.Runs {
			listed = append(listed, selected{of, &of.Runs[k]})
		}
		of.Runs = nil
	}
	sorting.By(listed, func(a, b selected) int { return compareBriefs(a.run, b.run) })
	for _, one := range listed {
		if err := visit(one.of, one.run); err != nil {
			return err
		}
	}
	return nil
}

// isSelected reports that a run meets a query.
func isSelected(r *manifest.BriefRun, q ports.BriefQuery) bool {
	after := manifest.BriefRun{LastAtMs: q.After.LastAtMs, LastIndex: q.After.LastIndex}
	return strings.HasPrefix(r.ID.String(), q.Run) &&
		(len(q.States) == 0 || slices.ContainsFunc(r.States, func(s string) bool { return slices.Contains(q.States, s) })) &&
		(q.Workflow == "" || r.Workflow == q.Workflow) && (q.Branch == "" || slices.Contains(r.Branches, q.Branch)) &&
		r.LastAtMs >= q.SinceMs && (!q.Open || r.Open) && (!q.Pending || r.Pending.Kind != manifest.NothingPending) && (q.After == ports.BriefPlace{} ||
		cmp.Or(compareTimes(&after, r), strings.Compare(q.After.Run, r.ID.String())) < 0)
}

// compareBriefs is the order of a list.
func compareBriefs(a, b *manifest.BriefRun) int {
	return cmp.Or(compareTimes(a, b), a.ID.Compare(b.ID))
}

// compareTimes compares by the last event, the latest first.
func compareTimes(a, b *manifest.BriefRun) int {
	return cmp.Or(cmp.Compare(b.LastAtMs, a.LastAtMs), cmp.Compare(b.LastIndex, a.LastIndex))
}

// KeepBrief implements ports.Briefs.
func (s *Store) KeepBrief(ctx context.Context, session id.Session, head manifest.Head, b manifest.Brief) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	if kept := (brief{b, head}); s.disk.isPresent(session, kept) {
		s.disk.keepBrief(session, kept)
	}
	return nil
}

// keepBrief keeps a brief; the caller holds mu.
func (d *Disk) keepBrief(session id.Session, b brief) {
	if d.briefs == nil {
		d.briefs = map[id.Session]brief{}
	}
	d.briefs[session] = b
}

// isPresent reports that a brief is of the logs as they are: no log of this store becomes shorter. The caller holds mu.
func (d *Disk) isPresent(session id.Session, b brief) bool {
	return d.length(manifest.SessionEvents(session)) == b.head.Bytes && d.length(feedback.LogOf(session)) == b.Notes.Bytes
}

// length is that of the manifest of a log.
func (d *Disk) length(l manifest.Log) int64 {
	if kept := d.logs[l.Root]; kept != nil {
		return int64(len(kept.manifest))
	}
	return 0
}
