package engine

import (
	"context"
	"errors"
	"io"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections"
)

// sound is the verdict over what of a log can be salvaged: it ends before the first
// segment with an event of which an object is missing or damaged. A bundle without that
// object would be refused wherever it is brought. The objects are read to their ends,
// which is done for a salvage alone.
func (x *exporter) salvagePrefix(ctx context.Context, own manifest.Log, v manifest.Verdict) (manifest.Verdict, error) {
	gone, err := x.lostObjects(ctx)
	if err != nil || len(gone) == 0 {
		return v, err
	}
	p := &salvageVisitor{gone: gone, end: v.Head, refs: newObjectRefs()}
	if _, err := x.g.Logs.Read(ctx, ports.Reading{Log: own}, p); err != nil {
		return v, err
	}
	if !p.cut && p.head != v.Head {
		return v, fault.New(fault.StoreConflict, "%s changed while it was exported", own.Root)
	}
	if p.head.IsZero() {
		f := p.findings[0]
		return v, fault.New(fault.SessionUnhealthy,
			"nothing of session %s can be salvaged: its first events need %s: %s", x.session, f.Path, f.Message).
			With("findings", p.findings)
	}
	x.refs, v.Head = p.refs, p.head
	x.noteSalvage(v.Health, p.findings)
	return v, nil
}

// gone are the objects of the log that cannot be had any more, each with what is wrong.
// Bytes that somebody erased, or that another program keeps elsewhere, are not missed.
func (x *exporter) lostObjects(ctx context.Context) (map[projections.ObjectRef]manifest.Finding, error) {
	out := map[projections.ObjectRef]manifest.Finding{}
	for _, kind := range []manifest.ObjectKind{manifest.Snapshot, manifest.Workflow, manifest.Artifact} {
		err := x.refs.refs[kind].each(func(digest canon.Digest) error {
			ref := projections.ObjectRef{Kind: kind, Ref: digest}
			err := x.readObject(ctx, ref)
			switch {
			case err == nil, fault.Is(err, fault.ArtifactErased), isMissing(err) && kind == manifest.Artifact &&
				x.unknown:
				return nil
			case isMissing(err), fault.Is(err, fault.StoreCorrupt):
				out[ref] = *unreadObject(objectPath(ref), err).finding
				return nil
			}
			return err // the disk's, or the end of the call: it proves nothing lost
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// whole reads an object to its end, where its digest is compared.
func (x *exporter) readObject(ctx context.Context, ref projections.ObjectRef) error {
	r, _, err := x.g.Streams.ObjectStream(ctx, ref.Kind, ref.Ref)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, r)
	return errors.Join(err, r.Close())
}

// soundPrefix visits a log up to the first segment that needs what is gone.
type salvageVisitor struct {
	gone     map[projections.ObjectRef]manifest.Finding
	end      manifest.Head // nothing behind it is asked for
	refs     *objectRefs   // of the prefix
	head     manifest.Head // of the prefix
	cut      bool
	findings []manifest.Finding // of the segment that is left out first
}

// Reset implements ports.Visitor.
func (p *salvageVisitor) Reset() {
	*p = salvageVisitor{gone: p.gone, end: p.end, refs: newObjectRefs()}
}

// Visit implements ports.Visitor.
func (p *salvageVisitor) Visit(seg manifest.Segment, head manifest.Head) error {
	if p.cut || p.head == p.end {
		return nil
	}
	reported := map[projections.ObjectRef]bool{}
	for _, e := range seg.Events {
		eachObjectRef(e, func(kind manifest.ObjectKind, digest canon.Digest) {
			ref := projections.ObjectRef{Kind: kind, Ref: digest}
			f, gone := p.gone[ref]
			if gone && !reported[ref] {
				index := e.Index
				f.Event, reported[ref] = &index, true
				p.findings = append(p.findings, f)
			}
		})
	}
	if p.cut = len(p.findings) > 0; p.cut {
		return nil
	}
	p.head = head
	return p.refs.Visit(seg, head)
}
