package index

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/manifest"
)

// encodePending encodes what is pending, as "" for nothing.
func encodePending(p manifest.Pending) string {
	if p.Kind == manifest.NothingPending {
		return ""
	}
	var w Writer
	w.Text(string(p.Kind))
	w.Int(p.AtMs)
	w.Texts(p.Tags)
	w.Text(p.Workflow.String())
	w.Bool(p.Imported)
	return string(w.Bytes())
}

// WithPending returns the run with what is pending of it.
func (r Run) WithPending(p manifest.Pending) Run {
	r.pending = encodePending(p)
	return r
}

// Pending returns what is pending of the run. It is the zero value for what cannot be decoded: that can only be
// written by a fault of this package, and the run is then left to a person.
func (r Run) Pending() (p manifest.Pending) {
	if r.pending == "" {
		return p
	}
	in := NewReader(r.pending)
	p.Kind, p.AtMs, p.Tags = manifest.PendingKind(in.Text()), in.Int(), in.Texts()
	hash, err := canon.ParseDigest(in.Text())
	if p.Workflow, p.Imported = hash, in.Bool(); err != nil || !in.Done() {
		return manifest.Pending{}
	}
	return p
}

// WithWaits returns the run with what the inbox needs to know of it; this package does not look into it.
func (r Run) WithWaits(text string) Run {
	r.waits = text
	return r
}

// Waits returns what WithWaits was called with, "" without it: the session has to be read for that.
func (r Run) Waits() string { return r.waits }
