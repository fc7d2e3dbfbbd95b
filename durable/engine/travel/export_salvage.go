package travel

import (
	"context"
	"errors"
	"io"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// salvagePrefix returns the verdict over the part of a log that can be
// salvaged: it ends before the first segment that refers to a missing or
// damaged object. An import would refuse a bundle without that object. All
// objects are read to their ends, which only a salvage does.
func (x *exporter) salvagePrefix(ctx context.Context, own manifest.Log, v manifest.Verdict) (manifest.Verdict, error) {
	gone, err := x.lostObjects(ctx)
	if err != nil || len(gone) == 0 {
		return v, err
	}
	var p *salvageVisitor
	fresh := func() *salvageVisitor { return &salvageVisitor{gone: gone, end: v.Head, refs: newObjectRefs()} }
	if _, err := x.ex.store.Read(ctx, ports.ReadRequest{Log: own}, ports.Into(&p, fresh)); err != nil {
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

// lostObjects returns the objects of the log that are missing or damaged, each
// with its finding. Erased artifacts, and artifacts that another program keeps
// elsewhere, are not lost.
func (x *exporter) lostObjects(ctx context.Context) (map[runs.ObjectRef]manifest.Finding, error) {
	out := map[runs.ObjectRef]manifest.Finding{}
	for _, kind := range []manifest.ObjectKind{manifest.Snapshot, manifest.Workflow, manifest.Artifact} {
		err := x.refs.refs[kind].each(func(digest canon.Digest) error {
			ref := runs.ObjectRef{Kind: kind, Ref: digest}
			err := x.readObject(ctx, ref)
			switch {
			case err == nil, fault.Is(err, fault.ArtifactErased), session.IsMissing(err) && kind == manifest.Artifact &&
				x.unknown:
				return nil
			case session.IsMissing(err), fault.Is(err, fault.StoreCorrupt):
				out[ref] = verify.UnreadObject(ref, err)
				return nil
			}
			return err // an I/O error or a cancelled call proves no loss
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// readObject reads an object to its end, where the port compares the digest.
func (x *exporter) readObject(ctx context.Context, ref runs.ObjectRef) error {
	r, _, err := x.ex.store.ObjectStream(ctx, ref.Kind, ref.Ref)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, r)
	return errors.Join(err, r.Close())
}

// salvageVisitor is a visitor that ends the salvaged part at the first segment
// that refers to a lost object.
type salvageVisitor struct {
	gone map[runs.ObjectRef]manifest.Finding
	// end is the last head to consider; segments behind it are ignored.
	end  manifest.Head
	refs *objectRefs   // of the prefix
	head manifest.Head // of the prefix
	cut  bool
	// findings concern the first segment that is left out.
	findings []manifest.Finding
}

// Visit implements ports.Visitor.
func (p *salvageVisitor) Visit(seg manifest.Segment, head manifest.Head) error {
	if p.cut || p.head == p.end {
		return nil
	}
	reported := map[runs.ObjectRef]bool{}
	for _, e := range seg.Events {
		eachObjectRef(e, func(kind manifest.ObjectKind, digest canon.Digest) {
			ref := runs.ObjectRef{Kind: kind, Ref: digest}
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
