package upkeep

import (
	"context"
	"crypto/sha256"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/retention"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// ArtifactUse is a submission of an artifact. Step is "" if the snapshot of the node cannot be read.
type ArtifactUse struct {
	Run     RunName
	Step    string // id
	Kind    string // that the submission names, "" for none
	Type    string // content type
	Bytes   int64
	InTrash bool // the session is in the trash
}

// ArtifactUses are what refers to an artifact, in the order of the logs.
type ArtifactUses struct {
	Submitted []ArtifactUse
	// Elsewhere are other logs that name it, such as those of proposals.
	Elsewhere []string
	// Unclear lists logs that could not be read: they may refer to it as well.
	Unclear []Unclear
}

// ArtifactUses finds what refers to an artifact in all logs of the store, the trash included. It
// reads every log: erasing is rare, and what it concerns has to be shown before. Errors of session.Whole.
func (u *Upkeep) ArtifactUses(ctx context.Context, ref canon.Digest) (ArtifactUses, error) {
	return session.Whole(u.store, func() (ArtifactUses, error) { return u.artifactUses(ctx, ref) })
}

// artifactUses is ArtifactUses, with what cannot be read in Unclear.
func (u *Upkeep) artifactUses(ctx context.Context, ref canon.Digest) (out ArtifactUses, err error) {
	roots, err := u.store.LogRoots(ctx)
	if err != nil {
		return out, err
	}
	for _, r := range roots {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		s := &useSearch{ref: ref}
		log := manifest.Log{Root: r.Root, Owner: r.Owner, Table: event.Domain}
		if s.events = r.Name == ""; !s.events {
			log.Table = event.Opaque(r.Name, ownerField(r))
		}
		v, err := u.store.Read(ctx, ports.ReadRequest{Log: log}, s.restart)
		if err != nil {
			out.Unclear = append(out.Unclear, Unclear{r.Root, fault.Of(err).Message})
		} else if v.Damaged() {
			out.Unclear = append(out.Unclear, Unclear{r.Root, describeHealth(v)})
		}
		if s.named && !s.events {
			out.Elsewhere = append(out.Elsewhere, r.Root)
		}
		for _, use := range u.usesOf(ctx, s) {
			use.InTrash = r.TrashName != ""
			out.Submitted = append(out.Submitted, use)
		}
	}
	return out, nil
}

// useSearch searches a log for references to an artifact.
type useSearch struct {
	ref    canon.Digest
	events bool // the log of a session, which has submissions
	named  bool // the log names the digest
	fold   *runs.Fold
	found  []submission
}

// submission is an event that refers to the artifact.
type submission struct {
	node    id.Node
	run     id.Run
	payload event.OutputPayload
}

// restart begins the search, again if the reading starts over.
func (s *useSearch) restart(manifest.Head) ports.Visitor {
	s.fold, s.found, s.named = runs.NewFold(), nil, false
	return ports.VisitorFunc(s.visit)
}

func (s *useSearch) visit(seg manifest.Segment, head manifest.Head) error {
	for _, text := range [][]byte{seg.Bytes, seg.Group} {
		retention.EachDigest(text, func(raw [sha256.Size]byte) { s.named = s.named || raw == s.ref.Raw() })
	}
	if !s.events {
		return nil
	}
	for _, e := range seg.Events {
		if p, ok := e.Data.(event.NodeOutputAppended); ok && p.Payload.SHA256 == s.ref {
			s.found = append(s.found, submission{e.Scope.NodeID, e.Scope.RunID, p.Payload})
		}
	}
	return s.fold.Visit(seg, head)
}

// usesOf names run and step of what was found. Equal ones are listed once.
func (u *Upkeep) usesOf(ctx context.Context, s *useSearch) (out []ArtifactUse) {
	if len(s.found) == 0 {
		return nil
	}
	names := u.runNames(ctx, s.fold)
	for _, f := range s.found {
		use := ArtifactUse{Run: RunName{RunID: f.run}, Kind: f.payload.ArtifactKind, Type: f.payload.ContentType,
			Bytes: f.payload.ByteLength}
		if at := slices.IndexFunc(names, func(n RunName) bool { return n.RunID == f.run }); at >= 0 {
			use.Run = names[at]
		}
		if run := s.fold.Runs[f.run]; run != nil && run.Node(f.node) != nil {
			if state, err := u.e.State(ctx, run.Node(f.node)); err == nil && state.PendingStep() != nil {
				use.Step = state.PendingStep().StepID
			}
		}
		if !slices.Contains(out, use) {
			out = append(out, use)
		}
	}
	return out
}
