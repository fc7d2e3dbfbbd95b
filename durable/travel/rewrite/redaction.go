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

// Redaction takes the secrets out of a log: out of every text that a person, an agent or
// a program brought, and out of artifacts. Ids, digests of snapshots and workflows, and
// the order of events stay. What named an altered artifact by its digest names the new
// one, so that the log holds together as before.
//
// An approval is bound to digests, and follows them; what it was given for has changed
// all the same. requestDigest is left out where its segment lost a secret: it is a digest
// of what was sent, by which a short one could be guessed.
type Redaction struct {
	load   func(canon.Digest) ([]byte, error)
	counts redact.Counts

	artifacts map[canon.Digest]altered // by the old digest: those that changed
	clean     map[canon.Digest]bool    // those that did not
	sources   map[canon.Digest]canon.Digest
	// follow is which digest stands for that of a text or an artifact that was altered:
	// only of those, so it stays small.
	follow map[canon.Digest]followed

	dirty    bool            // the segment names an altered artifact, counted here or before
	observed map[string]bool // dedupeKeys of observations, of which some may come out the same
	events   map[id.Event]id.Event
}

// altered is an artifact that lost a secret.
type altered struct {
	is          canon.Digest
	bytes       int64
	contentType string
	epoch       int // how many digests were followed when it was made
}

type followed struct {
	is  canon.Digest
	nth int
}

// NewRedaction begins a redaction. load hands out the stored bytes of an artifact; one
// of ARTIFACT_ERASED has nothing left to take out and stays named as it is.
func NewRedaction(load func(canon.Digest) ([]byte, error)) *Redaction {
	return &Redaction{load: load, counts: redact.Counts{}, artifacts: map[canon.Digest]altered{},
		clean:   map[canon.Digest]bool{},
		sources: map[canon.Digest]canon.Digest{}, follow: map[canon.Digest]followed{}, observed: map[string]bool{},
		events: map[id.Event]id.Event{}}
}

// Counts says how often each rule took something out so far; of an artifact that is
// referred to more than once, once. It is the caller's to read, not to change.
func (r *Redaction) Counts() redact.Counts { return r.counts }

// Segment is a segment's events without their secrets, at the same indices. Segments are
// handed in in their order. An error is that of load, or says that something became larger
// than it may be.
func (r *Redaction) Segment(events []event.Event) ([]event.Event, error) {
	before := r.counts.Total()
	r.dirty = false
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

// Artifact is the artifact that stands for the one of that digest in the redacted log,
// with its bytes; changed is false where it is the same. The error is that of load.
func (r *Redaction) Artifact(old canon.Digest) (ref canon.Digest, data []byte, changed bool, err error) {
	if data, err = r.load(old); err != nil {
		return old, nil, false, err
	}
	a, ok := r.artifacts[old]
	if !ok {
		return old, data, false, nil
	}
	data = r.bytes(data, a.contentType, nil, a.epoch)
	if canon.Sum(data) != a.is {
		return old, nil, false, fault.New(fault.StoreCorrupt, "the artifact %s changed while it was read", old)
	}
	return a.is, data, true, nil
}

// Source is the old digest of an artifact of the redacted log, of several any one; ok is
// false where none was altered to it.
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
			"the artifact %s has %d bytes without its secrets; at most %d are allowed", old, len(out),
			limits.ArtifactBytesMax).
			Suggest("Erase the artifact, or export the session without --redact.")
	}
	a = altered{is: canon.Sum(out), bytes: int64(len(out)), contentType: contentType, epoch: epoch}
	r.artifacts[old] = a
	if _, ok := r.sources[a.is]; !ok { // what is told apart by secrets alone comes out the same
		r.sources[a.is] = old
	}
	r.followTo(old, a.is)
	return a, true, nil
}

func (r *Redaction) followTo(old, is canon.Digest) {
	if _, ok := r.follow[old]; !ok {
		r.follow[old] = followed{is, len(r.follow)}
	}
}

// bytes is an artifact without secrets, and with the digests that stand for those that
// it names. Only what was followed when it was first seen counts, so that it comes out
// the same whenever it is asked for.
func (r *Redaction) bytes(data []byte, contentType string, c redact.Counts, epoch int) []byte {
	out := redact.Bytes(data, contentType, c)
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
			return f.is.String()
		}
		return s
	})
	if now.Equal(v) {
		return out
	}
	return now.JCS()
}
