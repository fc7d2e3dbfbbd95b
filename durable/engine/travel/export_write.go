package travel

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/durable/travel/rewrite"
	"github.com/waybill/waybill/ports"
)

// write writes all members of the bundle in their order: events, manifest
// records, objects, side logs.
func (x *exporter) write(ctx context.Context) error {
	own := x.logs[0]
	if err := x.writeLog(ctx, own, x.searched(own)); err != nil {
		return err
	}
	if err := x.writeLog(ctx, own, x.records); err != nil {
		return err
	}
	if err := x.writeObjects(ctx); err != nil {
		return err
	}
	for _, side := range x.logs[1:] {
		if err := x.w.Log(side.name); err != nil {
			return err
		}
		if err := x.writeLog(ctx, side, x.searched(side)); err != nil {
			return err
		}
		if err := x.writeLog(ctx, side, x.records); err != nil {
			return err
		}
	}
	return nil
}

// events writes the event lines of a segment.
func (x *exporter) events(seg manifest.Segment) error { return eachLine(seg.Bytes, x.w.Event) }

// searched returns the function that writes the event lines of a log, and searches them for secrets unless they are
// redacted.
func (x *exporter) searched(t exportedLog) func(manifest.Segment) error {
	if x.req.Redact {
		return x.events
	}
	return func(seg manifest.Segment) error {
		return errors.Join(x.suspected.segment(t.name, seg), x.events(seg))
	}
}

// records writes the manifest records of a segment's group.
func (x *exporter) records(seg manifest.Segment) error { return eachLine(seg.Group, x.w.Record) }

// eachLine calls fn for each line of b, without its newline.
func eachLine(b []byte, fn func([]byte) error) error {
	for len(b) > 0 {
		line, rest, _ := bytes.Cut(b, []byte{'\n'})
		if err := fn(line); err != nil {
			return err
		}
		b = rest
	}
	return nil
}

// writeLog passes each segment of a log to put, up to the head of the survey.
// For a redacted export the segments are rewritten first and chained again, so
// the exported head differs from the session's. STORE_CONFLICT if the log does
// not contain the head any more.
func (x *exporter) writeLog(ctx context.Context, t exportedLog, put func(manifest.Segment) error) error {
	v := &untilHead{head: t.head, put: onlySegments(put)}
	var chain *rewrite.Chain
	if x.req.Redact {
		redaction := rewrite.NewRedaction(x.loadForRedaction(ctx))
		chain = rewrite.NewChain(t.log)
		if t.name == "" {
			x.redaction = redaction // has the new digests of the artifacts
		}
		v.put = onlySegments(func(seg manifest.Segment) error {
			events, err := redaction.Segment(seg.Events)
			if err != nil {
				return err
			}
			rewritten, err := chain.Next(events)
			if err != nil {
				return err
			}
			return put(rewritten)
		})
	}
	if _, err := x.ex.store.Read(ctx, ports.ReadRequest{Log: t.log}, ports.Each(v.visit)); err != nil {
		return err
	}
	if !v.done {
		return changedWhileRead(t.log)
	}
	if chain != nil && t.name == "" {
		x.out.Head = chain.Head().Digest // rewriting results in another chain
	}
	return nil
}

// untilHead is a visitor that passes on the segments of a log up to a head.
type untilHead struct {
	head    manifest.Head
	put     ports.VisitorFunc
	started bool
	done    bool
}

// visit passes a segment on. Segments that were passed on cannot be withdrawn:
// a reading that starts over is STORE_CONFLICT.
func (u *untilHead) visit(seg manifest.Segment, head manifest.Head) error {
	if u.done {
		return nil
	}
	if seg.First == 0 && u.started {
		return fault.New(fault.StoreConflict, "the log changed while it was read")
	}
	u.started, u.done = true, head == u.head
	return u.put(seg, head)
}

// onlySegments is a function that needs no heads, as a visitor.
func onlySegments(put func(manifest.Segment) error) ports.VisitorFunc {
	return func(seg manifest.Segment, _ manifest.Head) error { return put(seg) }
}

// changedWhileRead is STORE_CONFLICT for a log that lost the head up to which it was read before.
func changedWhileRead(log manifest.Log) error {
	return fault.New(fault.StoreConflict, "%s changed while it was read", log.Root)
}

// loadForRedaction returns a function that reads an artifact for redaction. An
// artifact that another program keeps elsewhere is reported as erased: no bytes
// of it have to be redacted.
func (x *exporter) loadForRedaction(ctx context.Context) func(canon.Digest) ([]byte, error) {
	return func(ref canon.Digest) ([]byte, error) {
		b, err := x.ex.store.Object(ctx, manifest.Artifact, ref)
		if session.IsMissing(err) && x.unknown {
			return nil, fault.New(fault.ArtifactErased, "artifact %s is kept elsewhere", ref).With("elsewhere", true)
		}
		return b, err
	}
}

// countRedactions applies the redaction to everything once without writing,
// because the envelope that states the counts comes first in the bundle.
func (x *exporter) countRedactions(ctx context.Context) (map[string]int64, error) {
	total := map[string]int64{}
	for _, t := range x.logs {
		redaction := rewrite.NewRedaction(x.loadForRedaction(ctx))
		v := &untilHead{head: t.head, put: func(seg manifest.Segment, _ manifest.Head) error {
			_, err := redaction.Segment(seg.Events)
			return err
		}}
		if _, err := x.ex.store.Read(ctx, ports.ReadRequest{Log: t.log}, ports.Each(v.visit)); err != nil {
			return nil, err
		}
		for rule, n := range redaction.Counts() {
			total[rule] += n
		}
	}
	return total, x.refs.refs[manifest.Artifact].each(func(ref canon.Digest) error {
		data, _, err := x.ex.store.Tombstone(ctx, ref)
		if err == nil {
			redact.Value(data, total)
		}
		return err
	})
}

// writeObjects writes the objects that the log refers to, by kind and digest.
func (x *exporter) writeObjects(ctx context.Context) error {
	for _, kind := range []manifest.ObjectKind{manifest.Snapshot, manifest.Workflow} {
		if err := x.refs.refs[kind].each(func(ref canon.Digest) error {
			return x.writeObject(ctx, kind,
				ref)
		}); err != nil {
			return err
		}
	}
	if x.req.Redact {
		return x.redactedArtifacts(ctx)
	}
	return x.refs.refs[manifest.Artifact].each(func(ref canon.Digest) error {
		return x.writeObject(ctx, manifest.Artifact,
			ref)
	})
}

// writeObject writes one object, or the tombstone of an erased artifact.
func (x *exporter) writeObject(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest) error {
	r, size, err := x.ex.store.ObjectStream(ctx, kind, ref)
	if fault.Is(err, fault.ArtifactErased) {
		x.out.Artifacts++
		return x.writeTombstone(ctx, ref)
	}
	if session.IsMissing(err) && kind == manifest.Artifact && x.unknown {
		return nil // the other program may store its bytes elsewhere
	}
	if err != nil {
		return err
	}
	x.countObject(kind)
	return errors.Join(x.w.Object(kind, ref, size, r), r.Close())
}

// countObject counts an object in the result.
func (x *exporter) countObject(kind manifest.ObjectKind) {
	switch kind {
	case manifest.Snapshot:
		x.out.Snapshots++
	case manifest.Workflow:
		x.out.Workflows++
	case manifest.Artifact:
		x.out.Artifacts++
	}
}

// redactedArtifacts writes the redacted form of each artifact under its new
// digest, in order of the new digests. Only one artifact is in memory at a
// time. Artifacts with the same redacted form are written once.
func (x *exporter) redactedArtifacts(ctx context.Context) error {
	type renamed struct{ to, from canon.Digest }
	var all []renamed
	err := x.refs.refs[manifest.Artifact].each(func(ref canon.Digest) error {
		to, _, _, err := x.redaction.Artifact(ref)
		if fault.Is(err, fault.ArtifactErased) {
			err = nil
		}
		all = append(all, renamed{to, ref})
		return err
	})
	if err != nil {
		return err
	}
	// A bundle lists objects in the order of their digests.
	sorting.By(all, func(a, b renamed) int { return strings.Compare(a.to.String(), b.to.String()) })
	all = slices.CompactFunc(all, func(a, b renamed) bool { return a.to == b.to })
	for _, a := range all {
		_, data, _, err := x.redaction.Artifact(a.from)
		switch {
		case err != nil && fault.Of(err).Details["elsewhere"] == true:
			continue
		case fault.Is(err, fault.ArtifactErased):
			err = x.writeTombstone(ctx, a.from)
		case err != nil:
			return err
		default:
			err = x.w.Object(manifest.Artifact, a.to, int64(len(data)), io.Reader(bytes.NewReader(data)))
		}
		if err != nil {
			return err
		}
		x.out.Artifacts++
	}
	return nil
}

// writeTombstone writes a tombstone instead of an artifact.
func (x *exporter) writeTombstone(ctx context.Context, ref canon.Digest) error {
	data, ok, err := x.ex.store.Tombstone(ctx, ref)
	if err == nil && !ok {
		err = fault.New(fault.StoreCorrupt, "artifact %s is marked as erased, and its tombstone is missing", ref)
	}
	if err != nil {
		return err
	}
	if x.req.Redact { // actor and reason are free text
		data = redact.Value(data, nil)
	}
	return x.w.Erased(ref, data.Without("imported")) // the flag is specific to a store
}
