package engine

import (
	"cmp"
	"context"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/compile"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/manifest"
	"github.com/waybill/waybill/durable/snapshot"
	"github.com/waybill/waybill/projections"
)

// objectVerdicts remembers what each object was found to be: many sessions share
// snapshots and workflows. What is in it is referred to by somebody.
type objectVerdicts map[projections.ObjectRef]objectVerdict

type objectVerdict struct {
	finding *manifest.Finding // nil: nothing is wrong
	bytes   int64
	kind    string // of a JSON artifact
}

func (g *Engine) look(ctx context.Context, ref projections.ObjectRef, known objectVerdicts) objectVerdict {
	v, seen := known[ref]
	if !seen {
		v = g.examine(ctx, ref)
		known[ref] = v
	}
	return v
}

// examine reads an object, which recomputes its digest. A pinned workflow must be
// one; a snapshot or workflow of a form that we do not know makes its sessions of
// unknown version (R14).
func (g *Engine) examine(ctx context.Context, ref projections.ObjectRef) objectVerdict {
	at := objectPath(ref)
	data, err := g.Objects.Object(ctx, ref.Kind, ref.Ref)
	if err != nil {
		code := manifest.ObjectDamaged
		if fault.Of(err).Details["missing"] == true {
			code = manifest.ObjectMissing
		}
		f := manifest.NewFinding(code, at, "%s", fault.Of(err).Message)
		return objectVerdict{finding: &f}
	}
	out := objectVerdict{bytes: int64(len(data))}
	switch ref.Kind {
	case manifest.Workflow:
		_, err = compile.Decode(data)
	case manifest.Snapshot:
		_, err = snapshot.Decode(data)
	case manifest.Artifact:
		if v, parseErr := canon.Parse(data); parseErr == nil {
			kind, _ := v.Get("kind")
			out.kind = kind.Text()
		}
	}
	if err != nil {
		code := manifest.UnknownEvents
		if fault.Is(err, fault.StoreCorrupt) {
			code = manifest.ObjectDamaged
		}
		f := manifest.NewFinding(code, at, "%v", err)
		out.finding = &f
	}
	return out
}

func objectPath(ref projections.ObjectRef) string {
	return manifest.ObjectDir(ref.Kind) + "/" + manifest.ObjectName(ref.Kind, ref.Ref)
}

func sortedRefs(refs map[projections.ObjectRef]int64) []projections.ObjectRef {
	out := make([]projections.ObjectRef, 0, len(refs))
	for ref := range refs {
		out = append(out, ref)
	}
	slices.SortFunc(out, func(a, b projections.ObjectRef) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Ref.String(), b.Ref.String()))
	})
	return out
}

// claims compares what events say about artifacts with what these are.
func claims(log manifest.Log, all []projections.Claim, known objectVerdicts) (out []manifest.Finding) {
	for _, c := range all {
		is := known[projections.ObjectRef{Kind: manifest.Artifact, Ref: c.Payload.SHA256}]
		if is.finding != nil || c.Payload.ByteLength == is.bytes && (c.Payload.ArtifactKind == "" || c.Payload.ArtifactKind == is.kind) {
			continue
		}
		f := manifest.NewFinding(manifest.BrokenReference, log.Root, "event %d says that artifact %s is of kind %q and %d bytes; it is of kind %q and %d bytes",
			c.Event, c.Payload.SHA256, c.Payload.ArtifactKind, c.Payload.ByteLength, is.kind, is.bytes)
		f.Event = &c.Event
		out = append(out, f)
	}
	return out
}

// orphans are stored objects that no session of the store refers to: what a crash
// leaves of a start, or what a cleanup would take.
func (g *Engine) orphans(ctx context.Context, referred objectVerdicts) (out []manifest.Finding, err error) {
	for _, kind := range []manifest.ObjectKind{manifest.Snapshot, manifest.Workflow, manifest.Artifact} {
		stored, err := g.Inspector.Stored(ctx, kind)
		if ctx.Err() != nil {
			return out, err
		}
		if err != nil {
			continue // the inspection has found fault with the folder already
		}
		for _, digest := range stored {
			ref := projections.ObjectRef{Kind: kind, Ref: digest}
			if _, ok := referred[ref]; !ok {
				out = append(out, manifest.NewFinding(manifest.OrphanObject, objectPath(ref), "no session refers to the %s", kind))
			}
		}
	}
	return out, nil
}
