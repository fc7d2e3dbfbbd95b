package verify

import (
	"cmp"
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/proposals"
	"github.com/waybill/waybill/projections/runs"
)

// proposals verifies the log of proposals: that each record is a valid
// transition, that the bytes of each revision and installation exist, and that
// the source runs exist.
func (w *storeCheck) proposals(ctx context.Context, store id.Store) ([]manifest.Finding, error) {
	log := proposal.LogOf(store)
	c := newProposalCheck(log)
	v, err := w.store.Read(ctx, ports.ReadRequest{Log: log},
		ports.Into(&c, func() *proposalCheck { return newProposalCheck(log) }))
	w.unclear = err != nil || v.Health != manifest.Healthy
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return unreadableLog(c.log, err)
	}
	var out []manifest.Finding
	for _, f := range v.Findings {
		if f.Code != manifest.UnknownEvents { // the fold reports each of them, the verdict the first only
			out = append(out, f)
		}
	}
	out = append(append(out, c.fold.Findings...), c.identity...)
	out = append(out, w.signedRecords(c)...)
	out = append(out, w.revisionFindings(ctx, c)...)
	missing, err := w.missingSourceRuns(ctx, c)
	return append(out, missing...), err
}

// proposalCheck is a visitor that folds the log of proposals and collects what
// its records name.
type proposalCheck struct {
	log      manifest.Log
	fold     *proposals.Log
	identity []manifest.Finding
	uses     []runs.ObjectUse
	sources  []sourceRuns
	// signed are the records with signatures, applied the artifact of each proposal that was installed.
	signed  []event.Event
	applied map[id.Proposal]canon.Digest
}

// sourceRuns are the source runs that one record names.
type sourceRuns struct {
	event int64
	runs  []id.Run
}

// newProposalCheck returns a check for one log, without any record.
func newProposalCheck(log manifest.Log) *proposalCheck {
	return &proposalCheck{log: log, fold: proposals.NewLog(log), applied: map[id.Proposal]canon.Digest{}}
}

// Visit implements ports.Visitor. Objects are collected from rejected records
// as well: a cleanup keeps them for either.
func (c *proposalCheck) Visit(seg manifest.Segment, head manifest.Head) error {
	for _, e := range seg.Events {
		if !e.Foreign() && e.ID != id.EventOf(e.Owner, e.DedupeKey()) {
			f := manifest.NewFinding(manifest.EventIDMismatch, c.log.Root,
				"event %d (%s): its eventId %s does not follow from its dedupeKey", e.Index, e.Data.Kind(), e.ID)
			f.Event = &e.Index
			c.identity = append(c.identity, f)
		}
		if hasSignature(e) {
			c.signed = append(c.signed, e)
		}
		switch r := e.Data.(type) {
		case proposal.Created:
			c.revision(e.Index, r.Artifact)
			if len(r.Provenance.SourceRunIDs) > 0 {
				c.sources = append(c.sources, sourceRuns{e.Index, r.Provenance.SourceRunIDs})
			}
		case proposal.Revised:
			c.revision(e.Index, r.Artifact)
		case proposal.Applied:
			c.applied[r.ProposalID] = r.ArtifactSHA256
			c.uses = append(c.uses,
				runs.ObjectUse{ObjectRef: runs.ObjectRef{Kind: manifest.Installed, Ref: r.ArtifactSHA256},
					Event: e.Index})
		}
	}
	return c.fold.Visit(seg, head)
}

// revision records that an event refers to the artifact of a revision.
func (c *proposalCheck) revision(at int64, a proposal.Artifact) {
	use := runs.ObjectUse{ObjectRef: runs.ObjectRef{Kind: manifest.Artifact, Ref: a.SHA256}, Event: at}
	use.Output = event.OutputPayload{ByteLength: a.ByteLength}
	c.uses = append(c.uses, use)
}

// revisionFindings examines the objects of all revisions and installations,
// each once.
func (w *storeCheck) revisionFindings(ctx context.Context, c *proposalCheck) (out []manifest.Finding) {
	verdicts := make([]objectVerdict, len(c.uses))
	forEach(len(c.uses), func(i int) {
		use := c.uses[i]
		verdicts[i] = w.objects.verdict(use, func() objectVerdict { return w.examine(ctx, use) })
	})
	reported := map[runs.ObjectRef]bool{}
	for i, use := range c.uses {
		if f := verdicts[i].finding; f != nil && !reported[use.ObjectRef] {
			reported[use.ObjectRef] = true
			found := *f
			found.Event = &c.uses[i].Event // the first event that refers to it
			out = append(out, found)
		}
		if f, wrong := checkClaim(c.log, use, verdicts[i]); wrong {
			out = append(out, f)
		}
		if use.Kind == manifest.Artifact {
			// An interrupted activation leaves a copy in installed/. Its digest
			// is that of a proposed artifact, and no cleanup removes it, so it
			// is no orphan.
			w.objects.addReferenced(runs.ObjectRef{Kind: manifest.Installed, Ref: use.Ref})
		}
	}
	return out
}

// missingSourceRuns reports source runs that do not exist any more. That is no
// damage: sessions are deleted and expire.
func (w *storeCheck) missingSourceRuns(ctx context.Context, c *proposalCheck) (out []manifest.Finding, err error) {
	if len(c.sources) == 0 {
		return nil, nil
	}
	known, all, err := w.storedRuns(ctx)
	if err != nil || !all {
		return nil, err // the run may be in an unreadable session
	}
	for _, s := range c.sources {
		var gone []id.Run
		for _, r := range s.runs {
			if !known[r] {
				gone = append(gone, r)
			}
		}
		if len(gone) == 0 {
			continue
		}
		f := manifest.NewFinding(manifest.SourceRunMissing, c.log.Root,
			"event %d names %d source runs; %d of them do not exist here, such as %s",
			s.event, len(s.runs), len(gone), gone[0])
		f.Event = &s.event
		out = append(out, f)
	}
	sorting.Stable(out, func(a, b manifest.Finding) int { return cmp.Compare(*a.Event, *b.Event) })
	return out, nil
}

// storedRuns returns the runs of all sessions; all is false if a session could
// not be read.
func (w *storeCheck) storedRuns(ctx context.Context) (known map[id.Run]bool, all bool, err error) {
	sessions, err := w.store.Sessions(ctx)
	if err != nil {
		return nil, false, err
	}
	known, all = map[id.Run]bool{}, true
	key := w.r.HeadKey(ctx)
	for _, s := range sessions {
		runs, ok := w.r.SessionRuns(ctx, s, key)
		if ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
		all = all && ok
		for _, r := range runs {
			known[r.RunID] = true
		}
	}
	return known, all, nil
}
