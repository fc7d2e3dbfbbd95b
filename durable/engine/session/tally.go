package session

import (
	"context"

	"github.com/waybill/waybill/durable/engine/sealed"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/annotations"
)

// Tally sums a session's annotations, continuing from the saved sums. whole is
// false if the log is damaged or has records that this version does not know.
func (r *Reader) Tally(ctx context.Context, s id.Session) (t *annotations.Tally, whole bool, err error) {
	log := feedback.LogOf(s)
	if r.EndsAt(ctx, log, manifest.Head{}) {
		return annotations.NewTally(), true, nil // most sessions have none
	}
	t = r.SavedTally(ctx, log)
	visit := ports.Into(&t, annotations.NewTally)
	v, err := ports.Continue(ctx, r.source, ports.ReadRequest{Log: log, From: t.Head}, visit)
	if err == nil && t.Missed() {
		v, err = r.source.Read(ctx, ports.ReadRequest{Log: log}, visit)
	}
	return t, err == nil && v.Health == manifest.Healthy, err
}

// tallySeal is the context under which the key for the seal of a saved tally is
// derived.
const tallySeal = "waybill 2026 v1 annotations cache"

// SavedTally loads the saved sums of a session's annotations, empty sums
// without a valid cache.
func (r *Reader) SavedTally(ctx context.Context, log manifest.Log) *annotations.Tally {
	empty := annotations.NewTally()
	data, err := r.source.CachedHead(ctx, log, annotations.TallyFormat, limits.AnnotationCacheBytesMax+1)
	if err != nil || len(data) == 0 || len(data) > limits.AnnotationCacheBytesMax {
		return empty
	}
	key := r.HeadKey(ctx)
	if key == nil {
		return empty
	}
	doc, ok := sealed.Open(data, tallySeal, key)
	if !ok {
		return empty
	}
	t, err := annotations.LoadTally(doc)
	if err != nil || t.Head.NextRecord <= ShortLog {
		return empty // a short log is read in full, which also detects damage
	}
	return t
}

// SaveTally writes the sums to the cache. Errors are ignored: the cache saves
// time only.
func (r *Reader) SaveTally(ctx context.Context, log manifest.Log, t *annotations.Tally) {
	key := r.HeadKey(ctx)
	if key == nil {
		return
	}
	doc, err := t.Save()
	if err == nil && len(doc) < limits.AnnotationCacheBytesMax-1024 {
		_ = r.source.StoreHead(ctx, log, annotations.TallyFormat, sealed.Append(nil, tallySeal, key, doc))
	}
}
