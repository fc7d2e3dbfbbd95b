package travel

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/origin"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/travel/bundle"
	"github.com/waybill/waybill/ports"
)

// BundleInfo is the document "bundle": what the envelope of a bundle states,
// and the runs in it.
type BundleInfo struct {
	BundleID   string             `json:"bundleId"`
	ExportedAt string             `json:"exportedAt"`
	AppVersion string             `json:"appVersion"`
	SessionID  id.Session         `json:"sessionId"`
	Health     manifest.Health    `json:"health"`
	Head       canon.Digest       `json:"head"`
	Events     int64              `json:"events"`
	SideLogs   []string           `json:"sideLogs"`
	Salvage    *bundle.Salvage    `json:"salvage,omitzero"`
	Redacted   map[string]int64   `json:"redacted,omitzero"`
	Runs       []views.RunDetails `json:"runs"`
}

// ShowBundle describes a bundle without importing it. A bundle whose log is
// damaged is refused with the code that an import would return
// (BUNDLE_INTEGRITY_FAILED and others). bundled tells bundled workflows from others with their ids.
func ShowBundle(ctx context.Context, src ports.Bundle, bundled func(string, canon.Digest) bool) (BundleInfo, error) {
	source, e := session.ReadOnly(src), src.Envelope()
	r := session.NewReader(source)
	r.Origins = origin.Origins{Bundled: bundled, AllImported: true}
	show := views.New(r, source, views.Here{})
	out := BundleInfo{BundleID: e.BundleID, ExportedAt: e.ExportedAt, AppVersion: e.Producer.AppVersion,
		SessionID: src.Session(), Salvage: e.Salvage,
		SideLogs: []string{}, Runs: []views.RunDetails{}}
	if e.Redacted != nil {
		out.Redacted = e.Redacted.Rules
	}
	names, err := src.SideLogs(ctx, src.Session().String())
	if err != nil {
		return out, err
	}
	out.SideLogs = append(out.SideLogs, names...)
	h := r.NewHistory(src.Session())
	v, err := h.Read(ctx)
	if err != nil {
		return out, err
	}
	if v.Damaged() {
		return out, bundleFault(v.Findings[len(v.Findings)-1])
	}
	out.Health, out.Head, out.Events = v.Health, v.Head.Digest, v.Head.Next
	for _, runID := range h.Fold.Order {
		run, err := show.Run(ctx, runID.String())
		if err != nil {
			return out, err
		}
		out.Runs = append(out.Runs, run)
	}
	return out, nil
}

// BundleDiff is the document "bundle_diff": how two logs are related.
type BundleDiff struct {
	// Relation is that of the first log to the second.
	Relation Relation        `json:"relation"`
	Common   int64           `json:"commonEvents"`
	Events   [2]int64        `json:"events"`
	Heads    [2]canon.Digest `json:"heads"`
	// After has the first events of each log behind the common part.
	After [2][]DiffedEvent `json:"after"`
}

// DiffedEvent is an event that only one of two logs contains.
type DiffedEvent struct {
	Index int64  `json:"eventIndex"`
	Kind  string `json:"kind"`
}

// diffedMax bounds how many events of each side a diff lists.
const diffedMax = 10

// Side is one of two histories that are compared.
type Side struct {
	Logs    ports.Logs
	Session id.Session
}

// DiffBundles compares two logs, in stores or bundles. The heads of their
// groups form chains of digests, which are equal up to the last common group.
// SESSION_NOT_FOUND if one of the sessions has no events.
func DiffBundles(ctx context.Context, left, right Side) (out BundleDiff, err error) {
	sides := [...]Side{left, right}
	var chains [2]*chain
	for i, side := range sides {
		v, err := side.Logs.Read(ctx, ports.ReadRequest{Log: manifest.SessionEvents(side.Session)},
			ports.Into(&chains[i], func() *chain { return &chain{} }))
		if err != nil {
			return out, err
		}
		if v.Head.IsZero() {
			return out, fault.New(fault.SessionNotFound, "session %s has no events", side.Session)
		}
		out.Events[i], out.Heads[i], out.After[i] = v.Head.Next, v.Head.Digest, []DiffedEvent{}
	}
	one, two := chains[0].heads, chains[1].heads
	n := 0
	for n < min(len(one), len(two)) && one[n] == two[n] {
		out.Common = one[n].next
		n++
	}
	switch {
	case n == len(one) && n == len(two):
		out.Relation = Same
	case n == len(two):
		out.Relation = Ahead
	case n == len(one):
		out.Relation = Behind
	default:
		out.Relation = Diverged
	}
	for i, side := range sides {
		var rest *laterEvents
		_, err := side.Logs.Read(ctx, ports.ReadRequest{Log: manifest.SessionEvents(side.Session)},
			ports.Into(&rest, func() *laterEvents { return &laterEvents{from: out.Common} }))
		if err != nil {
			return out, err
		}
		out.After[i] = append(out.After[i], rest.events...)
	}
	return out, nil
}

// chain is a visitor that keeps the heads of a log's groups, as little of each
// as identifies it.
type chain struct{ heads []link }

// link identifies a head.
type link struct {
	digest [32]byte
	next   int64
}

// Visit implements ports.Visitor.
func (c *chain) Visit(_ manifest.Segment, head manifest.Head) error {
	c.heads = append(c.heads, link{head.Digest.Raw(), head.Next})
	return nil
}

// laterEvents is a visitor that keeps the first diffedMax events from an index
// on.
type laterEvents struct {
	from   int64
	events []DiffedEvent
}

// Visit implements ports.Visitor.
func (b *laterEvents) Visit(seg manifest.Segment, _ manifest.Head) error {
	for _, e := range seg.Events {
		if e.Index >= b.from && len(b.events) < diffedMax {
			b.events = append(b.events, DiffedEvent{e.Index, e.Data.Kind()})
		}
	}
	return nil
}
