package verify

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/projections/runs"
)

// objectCache caches the verdict over each object, since many sessions share
// snapshots and workflows. An object in it is referred to by some log. A valid
// object takes some ten bytes.
type objectCache struct {
	mu         sync.Mutex
	seen       runs.Fingerprints
	bad        map[uint64]manifest.Finding
	again      map[uint64]bool // in seen, and to be examined again
	facts      map[uint64]artifactFacts
	kinds      map[string]string // each kind once
	inProgress map[uint64]chan struct{}

	referenced runs.Fingerprints
}

// artifactFacts are the properties of an artifact that events state too.
type artifactFacts struct {
	bytes int64
	kind  string // of a JSON artifact
}

// objectVerdict is the result of examining one object.
type objectVerdict struct {
	finding *manifest.Finding // nil: valid
	bytes   int64
	kind    string
}

// newObjectCache returns an empty cache.
func newObjectCache() *objectCache {
	return &objectCache{bad: map[uint64]manifest.Finding{}, again: map[uint64]bool{}, facts: map[uint64]artifactFacts{},
		kinds: map[string]string{}, inProgress: map[uint64]chan struct{}{}}
}

// verdict returns the verdict over an object. Of several goroutines that
// request the same object, one examines it and the others wait.
func (b *objectCache) verdict(use runs.ObjectUse, examine func() objectVerdict) objectVerdict {
	key, ref := use.CheckFingerprint(), use.ObjectRef
	b.mu.Lock()
	if own := ref.Fingerprint(); own != key {
		b.referenced.Add(own)
	}
	for !b.seen.Has(key) || b.again[key] {
		running, ok := b.inProgress[key]
		if !ok {
			// Examining reads a file, so it happens outside the mutex. Closing
			// the channel wakes the goroutines that wait for the verdict.
			b.inProgress[key] = make(chan struct{})
			b.mu.Unlock()
			v := examine()
			b.mu.Lock()
			b.store(key, ref.Kind, v)
			close(b.inProgress[key])
			delete(b.inProgress, key)
			break
		}
		b.mu.Unlock()
		<-running
		b.mu.Lock()
	}
	defer b.mu.Unlock()
	out := objectVerdict{bytes: b.facts[key].bytes, kind: b.facts[key].kind}
	if f, bad := b.bad[key]; bad {
		out.finding = &f
	}
	return out
}

// forgetBad removes the verdict over an object that is not valid, so that it is examined again: it may have been removed
// with a session, or erased, while the log that refers to it was read.
func (b *objectCache) forgetBad(use runs.ObjectUse) {
	key := use.CheckFingerprint()
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, bad := b.bad[key]; bad {
		delete(b.bad, key)
		b.again[key] = true
	}
}

// addReferenced records that an object is referred to, without examining it.
func (b *objectCache) addReferenced(ref runs.ObjectRef) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.referenced.Add(ref.Fingerprint())
}

// store keeps a verdict. The caller holds the mutex.
func (b *objectCache) store(key uint64, kind manifest.ObjectKind, v objectVerdict) {
	b.seen.Add(key)
	delete(b.again, key)
	if v.finding != nil {
		b.bad[key] = *v.finding
		return
	}
	if kind != manifest.Artifact {
		return
	}
	text, ok := b.kinds[v.kind]
	if !ok {
		text = strings.Clone(v.kind) // a copy, so that the artifact's bytes can be freed
		b.kinds[text] = text
	}
	b.facts[key] = artifactFacts{v.bytes, text}
}

// examine reads an object, which verifies its digest, and decodes it. A
// snapshot or workflow in an unknown form is a finding that makes its sessions
// unknown_version (docs/design.md#foreign-stores).
func (x reading) examine(ctx context.Context, use runs.ObjectUse) objectVerdict {
	ref := use.ObjectRef
	at := objectPath(ref)
	// The port compares the digest; only the form is left to check.
	data, err := x.store.Object(ctx, ref.Kind, ref.Ref)
	if err != nil {
		return unread(ref, err)
	}
	out := objectVerdict{bytes: int64(len(data))}
	switch ref.Kind {
	case manifest.Workflow:
		_, err = compile.Decode(data)
	case manifest.Snapshot:
		var s snapshot.State
		if s, err = snapshot.Decode(data); err == nil {
			out.finding = x.checkSteps(ctx, use, s)
		}
	case manifest.Artifact:
		// Artifacts may have any content; only JSON has a kind.
		out.kind = kindOf(data)
	}
	if err != nil {
		f := manifest.NewFinding(manifest.UnknownEvents, at, "%s", describeForm(err, data))
		if fault.Is(err, fault.StoreCorrupt) {
			f = manifest.NewFinding(manifest.ObjectDamaged, at, "%v", err)
		}
		if x.bundle && errors.Is(err, compile.ErrLimits) {
			f.Severity = manifest.SeverityError // nothing forces a store to accept it
		}
		out.finding = &f
	}
	return out
}

// kindOf returns the member kind of a JSON artifact, "" for any other content.
func kindOf(data []byte) string {
	v, err := canon.ParseMember(data, "kind")
	if err != nil {
		return ""
	}
	return v.Text()
}

// checkSteps compares a snapshot with the workflow that its node is pinned to:
// every step and loop that the snapshot names is one of the workflow. Nothing is
// reported for a workflow that cannot be read; that is a finding of its own.
func (x reading) checkSteps(ctx context.Context, use runs.ObjectUse, s snapshot.State) *manifest.Finding {
	w, err := x.r.Workflow(ctx, use.Workflow)
	if err != nil {
		return nil
	}
	for _, id := range s.StepIDs() {
		if _, ok := w.Step(id); !ok {
			f := manifest.NewFinding(manifest.BrokenReference, objectPath(use.ObjectRef),
				"the snapshot names the step %q, which its workflow %s does not have", id, use.Workflow)
			return &f
		}
	}
	return nil
}

// UnreadObject is the finding about an object that a store did not return: erased,
// missing or damaged.
func UnreadObject(ref runs.ObjectRef, err error) manifest.Finding {
	code := manifest.ObjectDamaged
	switch {
	case fault.Is(err, fault.ArtifactErased):
		code = manifest.ArtifactErased
	case session.IsMissing(err):
		code = manifest.ObjectMissing
	}
	return manifest.NewFinding(code, objectPath(ref), "%s", fault.Of(err).Message)
}

// unread is the verdict over an object that the store did not return.
func unread(ref runs.ObjectRef, err error) objectVerdict {
	f := UnreadObject(ref, err)
	return objectVerdict{finding: &f}
}

// checkDigest is examine without decoding the bytes.
func (x reading) checkDigest(ctx context.Context, ref runs.ObjectRef) objectVerdict {
	if _, err := x.store.Object(ctx, ref.Kind, ref.Ref); err != nil {
		return unread(ref, err)
	}
	return objectVerdict{}
}

// describeForm explains what can be done with an object in another form.
func describeForm(err error, data []byte) string {
	f := fault.Of(err)
	if !errors.Is(err, snapshot.ErrUnknownShape) {
		return f.Message
	}
	if _, err := snapshot.DecodeForeign(data); err == nil {
		return "the snapshot is from another program or a newer version: it can be shown, but not continued from"
	}
	return err.Error()
}

// objectPath is the path of an object, relative to the store.
func objectPath(ref runs.ObjectRef) string {
	return manifest.ObjectDir(ref.Kind) + "/" + manifest.ObjectName(ref.Kind, ref.Ref)
}

// checkClaim compares what an event states about an artifact with the artifact.
func checkClaim(log manifest.Log, use runs.ObjectUse, is objectVerdict) (f manifest.Finding, wrong bool) {
	// The whole text of notes is Markdown, which states no kind.
	if use.Kind != manifest.Artifact || is.finding != nil || use.Output.ByteLength == is.bytes &&
		(use.Output.ArtifactKind == "" || use.Output.ArtifactKind == is.kind || use.Output.IsFullNotes()) {
		return f, false
	}
	f = manifest.NewFinding(manifest.BrokenReference, log.Root,
		"event %d records artifact %s with kind %q and %d bytes; it has kind %q and %d bytes",
		use.Event, use.Ref, use.Output.ArtifactKind, use.Output.ByteLength, is.kind, is.bytes)
	f.Event = &use.Event
	return f, true
}

// orphans returns a finding for each stored object that no session and no
// proposal refers to. A crash during a start leaves such objects, and a cleanup
// removes them. checked are the sessions that were verified.
func (w *storeCheck) orphans(ctx context.Context, checked []id.Session) (out []manifest.Finding, err error) {
	found, err := w.unreferenced(ctx)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	// A session that was started, imported or restored in between refers to its objects.
	if err := w.readNewSessions(ctx, checked); err != nil {
		return nil, err
	}
	found, err = w.unreferenced(ctx)
	for _, ref := range found {
		out = append(out, manifest.NewFinding(manifest.OrphanObject, objectPath(ref), "nothing refers to the %s", ref.Kind))
	}
	return out, err
}

// unreferenced lists the stored objects that no log that was read refers to, by kind and path.
func (w *storeCheck) unreferenced(ctx context.Context) (out []runs.ObjectRef, err error) {
	for _, kind := range manifest.ObjectKinds() {
		var found []runs.ObjectRef
		err := w.store.EachStored(ctx, kind, func(digest canon.Digest) {
			ref := runs.ObjectRef{Kind: kind, Ref: digest}
			if key := ref.Fingerprint(); !w.objects.seen.Has(key) && !w.objects.referenced.Has(key) {
				found = append(found, ref)
			}
		})
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		if err != nil {
			continue // the inspection reports the directory
		}
		sorting.By(found, func(a, b runs.ObjectRef) int { return strings.Compare(objectPath(a), objectPath(b)) })
		out = append(out, found...)
	}
	return out, nil
}

// readNewSessions records what sessions refer to that are not among checked.
func (w *storeCheck) readNewSessions(ctx context.Context, checked []id.Session) error {
	all, err := w.store.Sessions(ctx)
	if err != nil {
		return err
	}
	for _, s := range all {
		if slices.Contains(checked, s) {
			continue
		}
		if _, _, err := w.read(ctx, manifest.SessionEvents(s), firstPass); err != nil && ctx.Err() != nil {
			return err
		}
	}
	return nil
}
