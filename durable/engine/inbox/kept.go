package inbox

import (
	"cmp"
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/index"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/projections/runs"
)

// Kept returns what the catalogue keeps of a run for the inbox, so that its session is not read for that; "" if the session has
// to be read: an approval depends on the settings of the place too, and a session that was handed over on its store. row is the
// summary of the run in the fold. It is a function of the files that the index observes.
func (b Inbox) Kept(ctx context.Context, s id.Session, fold *runs.Fold, row views.RunSummary) (string, error) {
	r := fold.Runs[row.RunID]
	if fold.HandedOver != nil || r.Closed != nil || r.CancelRequested != nil || r.Node(r.Tip) == nil || handedIn(r.Node(r.Tip)) {
		return "", nil
	}
	// Whether the workflow is trusted is that of the place: both answers are kept.
	var trusting, wary Item
	if err := b.waitsFor(ctx, fold, row, &Query{}, &trusting); err != nil {
		return "", err
	}
	nothing := Query{Trusted: func(context.Context, canon.Digest) bool { return false }}
	if err := b.waitsFor(ctx, fold, row, &nothing, &wary); err != nil {
		return "", err
	}
	imported, err := b.isImported(ctx, s, r)
	if err != nil {
		return "", err
	}
	var w index.Writer
	w.Bool(imported)
	w.Text(row.Title)
	w.Text(trusting.StepID)
	w.Text(wary.trust)
	for _, kind := range []Kind{trusting.Kind, wary.Kind} {
		w.Text(string(kind))
		since := int64(0)
		if kind != "" {
			since = cmp.Or(kind.since(r), row.LastAtMs)
		}
		w.Int(since)
	}
	return string(w.Bytes()), nil
}

// kept adds the item of a run by what Kept returned for it; false if its session has to be read.
func (l *List) kept(ctx context.Context, s id.Session, r *index.Run, q *Query) bool {
	if r.Waits() == "" {
		return false
	}
	in := index.NewReader(r.Waits())
	item := Item{RunID: r.ID, SessionID: s, Imported: in.Bool(), Title: in.Text(), StepID: in.Text(), trust: in.Text()}
	item.Kind, item.SinceMs = Kind(in.Text()), in.Int()
	wary, since := Kind(in.Text()), in.Int()
	if !in.Done() {
		return false
	}
	if item.trust != "" {
		hash, err := canon.ParseDigest(item.trust)
		if err != nil {
			return false
		}
		if q.isTrusted(ctx, hash) {
			item.trust = ""
		} else {
			item.Kind, item.SinceMs = wary, since
		}
	}
	l.add(item, q)
	return true
}

// add adds an item that waits, and counts one of an imported run that the query leaves out.
func (l *List) add(item Item, q *Query) {
	switch {
	case item.Kind == "":
	case item.Imported && !q.Imported:
		l.Imported++
	default:
		l.Items = append(l.Items, item.withNext(item.RunID.String()))
	}
}
