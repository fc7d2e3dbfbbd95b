package audit

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Confirmed is what a person confirmed last of the settings that decide who may do what, of the
// list of trusted workflow versions, of the attached folders, and of the keys of programs
// (docs/design.md#settings). A zero digest: never.
type Confirmed struct {
	Policy canon.Digest `json:"policy,omitzero"`
	// Settings is the canonical text of the policy; "" where the log does not have it.
	Settings string       `json:"settings,omitzero"`
	Trusted  canon.Digest `json:"trusted,omitzero"`
	// Sources is the digest of the attached folders of the machine.
	Sources canon.Digest `json:"sources,omitzero"`
	// HTTPKeys is the digest of the keys of programs that call the server.
	HTTPKeys canon.Digest `json:"httpKeys,omitzero"`
	// Open are the intentions that may confirm something and have no outcome yet.
	Open []id.Event `json:"open,omitzero"`
}

// openMax bounds Open. An intention without an outcome remains for ever; only the newest can still
// get one.
const openMax = 64

// VisitConfirmed folds a segment of the audit log.
func (c *Confirmed) VisitConfirmed(seg manifest.Segment) {
	for _, e := range seg.Events {
		c.visit(e)
	}
}

// visit folds one line of the audit log. Only the outcome of a successful action of this store
// counts, as the log has it: a line of another kind with the same details confirms nothing.
func (c *Confirmed) visit(e event.Event) {
	if e.Foreign() {
		return
	}
	switch p := e.Data.(type) {
	case audit.Intended:
		if p.Action == audit.Configure || p.Action == audit.Trust || p.Action == audit.Untrust {
			c.Open = append(c.Open[max(0, len(c.Open)+1-openMax):], e.ID)
		}
	case audit.Done:
		if c.close(p.IntendedEventID) && p.Outcome == audit.Succeeded {
			c.confirm(p.Details)
		}
	}
}

// close removes an intention from Open and reports whether Open contained it.
func (c *Confirmed) close(intended id.Event) bool {
	for i, open := range c.Open {
		if open == intended {
			// The list is copied: a saved ledger and its successor may share it.
			c.Open = append(append([]id.Event(nil), c.Open[:i]...), c.Open[i+1:]...)
			return true
		}
	}
	return false
}

// confirm applies the details of an outcome. A text that is not that of the digest, because it was
// shortened or redacted, is left out.
func (c *Confirmed) confirm(details map[string]string) {
	if d, err := canon.ParseDigest(details[audit.DetailPolicy]); err == nil {
		c.Policy, c.Settings = d, ""
		if text := details[audit.DetailSettings]; canon.Sum([]byte(text)) == d {
			c.Settings = text
		}
	}
	if d, err := canon.ParseDigest(details[audit.DetailTrusted]); err == nil {
		c.Trusted = d
	}
	if d, err := canon.ParseDigest(details[audit.DetailSources]); err == nil {
		c.Sources = d
	}
	if d, err := canon.ParseDigest(details[audit.DetailHTTPKeys]); err == nil {
		c.HTTPKeys = d
	}
}
