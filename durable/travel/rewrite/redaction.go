package rewrite

import (
	"bytes"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/redact"
)

// Redaction removes secrets from a log: from every text that a person, an agent or a program
// sent, and from artifacts (docs/design.md#redaction). Ids, digests of snapshots and
// workflows, and the order of events are kept. References to a redacted artifact are replaced
// by its new digest, so that the log stays consistent.
//
// An approval is bound to digests, which are replaced too, although the approved content has
// changed. requestDigest is removed from a segment that contained a secret: a short secret
// could be guessed from it.
type Redaction struct {
	// load returns the stored bytes of an artifact.
	load   func(canon.Digest) ([]byte, error)
	counts redact.Counts

	artifacts map[canon.Digest]altered      // redacted artifacts, by their old digest
	clean     map[canon.Digest]bool         // artifacts without secrets
	sources   map[canon.Digest]canon.Digest // old digest, by the new one
	// follow maps the digest of a redacted text or artifact to the new one. Only redacted
	// content is in it, so that it stays small.
	follow map[canon.Digest]followed

	whole    canon.Digest          // the artifact with the whole notes of the segment; zero without one
	dirty    bool                  // the segment refers to a redacted artifact, whether counted now or before
	observed map[string]bool       // dedupeKeys of observations, which redaction may make equal
	events   map[id.Event]id.Event // new ids of events whose id changed
}

// altered is the result of redacting an artifact.
type altered struct {
	ref         canon.Digest
	bytes       int64
	contentType string
	epoch       int // number of entries in follow when it was made
}

// followed is a new digest and its position in the order of follow.
type followed struct {
	ref canon.Digest
	nth int
}

// NewRedaction begins a redaction. load returns the stored bytes of an artifact; for one that
// was erased it returns ARTIFACT_ERASED, and the reference is kept.
func NewRedaction(load func(canon.Digest) ([]byte, error)) *Redaction {
	return &Redaction{load: load, counts: redact.Counts{}, artifacts: map[canon.Digest]altered{},
		clean:   map[canon.Digest]bool{},
		sources: map[canon.Digest]canon.Digest{}, follow: map[canon.Digest]followed{}, observed: map[string]bool{},
		events: map[id.Event]id.Event{}}
}

// Counts returns how often each rule matched so far, counting an artifact once however often
// it is referred to. The caller must not change the map.
func (r *Redaction) Counts() redact.Counts { return r.counts }

// Segment returns a segment's events without secrets, at the same indices. Segments must be
// passed in log order. Errors are those of load, and STORE_LIMIT for content that redaction
// made too large.
func (r *Redaction) Segment(events []event.Event) ([]event.Event, error) {
	before := r.counts.Total()
	r.dirty, r.whole = false, wholeNotes(events)
	out := make([]event.Event, len(events))
	for i, e := range events {
		var err error
		if out[i], err = r.event(e); err != nil {
			return nil, err
		}
	}
	if r.counts.Total() == before && !r.dirty {
		return out, nil
	}
	for i := range out {
		if p, ok := out[i].Data.(event.AdvanceRecorded); ok && !out[i].Foreign() {
			p.RequestDigest = canon.Digest{}
			out[i].Data = p
		}
	}
	return out, nil
}

// wholeNotes returns the artifact with the whole text of a segment's notes, zero if there is none.
func wholeNotes(events []event.Event) canon.Digest {
	for _, e := range events {
		if p, ok := e.Data.(event.NodeOutputAppended); ok && !e.Foreign() && p.Payload.IsFullNotes() {
			return p.Payload.SHA256
		}
	}
	return canon.Digest{}
}

// Artifact returns the redacted form of the artifact with an old digest, and its new digest;
// changed is false if it has no secrets. Errors are those of load, and STORE_CORRUPT if the
// artifact differs from the one that Segment read.
func (r *Redaction) Artifact(old canon.Digest) (ref canon.Digest, data []byte, changed bool, err error) {
	if data, err = r.load(old); err != nil {
		return old, nil, false, err
	}
	a, ok := r.artifacts[old]
	if !ok {
		return old, data, false, nil
	}
	data = r.bytes(data, a.contentType, nil, a.epoch)
	if canon.Sum(data) != a.ref {
		return old, nil, false, fault.New(fault.StoreCorrupt, "the artifact %s changed while it was read", old)
	}
	return a.ref, data, true, nil
}

// Source returns the old digest of a redacted artifact, any one if several became equal; ok
// is false for all other digests.
func (r *Redaction) Source(ref canon.Digest) (old canon.Digest, ok bool) {
	old, ok = r.sources[ref]
	return old, ok
}

// artifact redacts an artifact once, however often it is referred to.
func (r *Redaction) artifact(old canon.Digest, contentType string) (a altered, changed bool, err error) {
	if a, ok := r.artifacts[old]; ok || r.clean[old] {
		return a, ok, nil
	}
	data, err := r.load(old)
	// Nothing is left to redact.
	if fault.Is(err, fault.ArtifactErased) {
		r.clean[old] = true
		return a, false, nil
	}
	if err != nil {
		return a, false, err
	}
	epoch := len(r.follow)
	out := r.bytes(data, contentType, r.counts, epoch)
	if bytes.Equal(out, data) {
		r.clean[old] = true
		return a, false, nil
	}
	if len(out) > limits.ArtifactBytesMax {
		return a, false, fault.New(fault.StoreLimit,
			"the artifact %s has %d bytes after redaction; at most %d are allowed", old, len(out),
			limits.ArtifactBytesMax).
			Suggest("Erase the artifact, or export the session without --redact.")
	}
	a = altered{ref: canon.Sum(out), bytes: int64(len(out)), contentType: contentType, epoch: epoch}
	r.artifacts[old] = a
	if _, ok := r.sources[a.ref]; !ok { // artifacts that differ only in secrets become equal
		r.sources[a.ref] = old
	}
	r.followTo(old, a.ref)
	return a, true, nil
}

// followTo stores a replaced digest; the first replacement is kept.
func (r *Redaction) followTo(old, ref canon.Digest) {
	if _, ok := r.follow[old]; !ok {
		r.follow[old] = followed{ref, len(r.follow)}
	}
}

// bytes returns an artifact redacted and with replaced digests in its JSON. Only digests that
// were in follow when the artifact was first seen are replaced, so that the result is the
// same on every call.
func (r *Redaction) bytes(data []byte, contentType string, c redact.Counts, epoch int) []byte {
	out := r.following(redact.Bytes(data, contentType, c), contentType, epoch)
	if bytes.Equal(out, data) || !bytes.Contains(out, []byte(`"signature"`)) {
		return out
	}
	// The signature of a decision is over the text and the digests that were replaced.
	v, err := canon.Parse(out)
	kind, _ := v.Get("kind")
	if err != nil || kind.Text() != event.DecisionKind && kind.Text() != event.ApprovalKind {
		return out
	}
	return v.Without("signature").Without("signed").JCS()
}

// following returns an artifact whose JSON has the new digests in place of replaced ones.
func (r *Redaction) following(out []byte, contentType string, epoch int) []byte {
	// !bytes.Contains( || Parsing is needed only for JSON that can contain a replaced digest.
	if epoch == 0 || !bytes.Contains(out, []byte("sha256:")) || !strings.HasPrefix(contentType, "application/json") {
		return out
	}
	v, err := canon.Parse(out)
	if err != nil {
		return out
	}
	now := mapTexts(v, func(s string) string {
		d, err := canon.ParseDigest(s)
		if f, ok := r.follow[d]; err == nil && ok && f.nth < epoch {
			return f.ref.String()
		}
		return s
	})
	if now.Equal(v) {
		return out
	}
	return now.JCS()
}
