package travel

import (
	"context"
	"io"
	"iter"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/travel/bundle"
	"github.com/waybill/waybill/ports"
)

// Source is a session of a store, for the import into another one: a bundle without a file
// (docs/design.md#exchange). It implements ports.Bundle over the ports of its store, and ends at the heads that the
// logs had when it was opened: what is appended later is not in it. Little of the session is in memory at a time.
type Source struct {
	x        *exporter
	envelope bundle.Envelope
	logs     map[string]exportedLog // by their roots
	// elsewhere are the artifacts that another program keeps outside of the store.
	elsewhere map[canon.Digest]bool
}

var _ ports.Bundle = (*Source)(nil)

// Source opens a session of the store as the source of an import. ref is a session id, run id, prefix of a run id, or
// @last. It locks nothing, and changes nothing in the store.
//
// Errors: those of ResolveSession; RUN_BUSY while a process performs one of its runs, since what it records next would
// be missing in the other store; SESSION_UNHEALTHY if a log is damaged.
func (c *Exchange) Source(ctx context.Context, seed id.Seed, ref string) (*Source, error) {
	s, err := c.e.ResolveSession(ctx, ref)
	if err != nil {
		return nil, err
	}
	if err := c.notPerformed(ctx, s, ref); err != nil {
		return nil, err
	}
	x, err := c.surveySession(ctx, s, ExportRequest{})
	if err != nil {
		return nil, err
	}
	out := &Source{x: x, logs: map[string]exportedLog{}, elsewhere: map[canon.Digest]bool{},
		envelope: bundle.Envelope{BundleID: id.NewBundle(seed).String(), SessionID: s.String()}}
	for _, log := range x.logs {
		out.logs[log.log.Root] = log
	}
	if x.unknown {
		err = out.findElsewhere(ctx)
	}
	return out, err
}

// notPerformed returns RUN_BUSY while a process performs a run of a session, which the caller named ref.
func (c *Exchange) notPerformed(ctx context.Context, s id.Session, ref string) error {
	err := c.store.NotPerformed(ctx, s)
	if fault.Is(err, fault.RunBusy) {
		return fault.Of(err).Suggest("Repeat the call when that ended, which %s shows. Nothing was written.",
			fault.Command{"runs", "watch", ref})
	}
	return err
}

// findElsewhere finds the artifacts of a session of another program that the store does not have.
func (s *Source) findElsewhere(ctx context.Context) error {
	return s.x.refs.refs[manifest.Artifact].each(func(ref canon.Digest) error {
		r, _, err := s.x.ex.store.ObjectStream(ctx, manifest.Artifact, ref)
		switch {
		case err == nil:
			return r.Close()
		case session.IsMissing(err):
			s.elsewhere[ref] = true
		case !fault.Is(err, fault.ArtifactErased):
			return err
		}
		return nil
	})
}

// Session implements ports.Bundle.
func (s *Source) Session() id.Session { return s.x.session }

// Envelope implements ports.Bundle. Its bundle id is that of this exchange.
func (s *Source) Envelope() bundle.Envelope { return s.envelope }

// Each implements ports.Bundle.
func (s *Source) Each(kind manifest.ObjectKind) iter.Seq[canon.Digest] {
	return func(yield func(canon.Digest) bool) {
		_ = s.x.refs.refs[kind].each(func(ref canon.Digest) error {
			if !s.elsewhere[ref] && !yield(ref) {
				return io.EOF // the caller has seen enough
			}
			return nil
		})
	}
}

// Read implements ports.Logs. A log ends at the head that it had when the source was opened; one that the source does
// not have is healthy and empty. STORE_CONFLICT if the log does not have that head any more, or was replaced while it
// was read.
func (s *Source) Read(ctx context.Context, r ports.ReadRequest, visit ports.NewVisitor) (manifest.Verdict, error) {
	log, ok := s.logs[r.Log.Root]
	visitor := visit(r.From)
	switch {
	case !ok:
		return manifest.Verdict{Health: manifest.Healthy}, nil
	case !r.From.IsZero():
		return manifest.Verdict{}, manifest.ErrNotOnChain
	}
	// Of a reading that starts over, only a visitor that has received nothing can receive the segments: an import
	// writes them as they come.
	until := &untilHead{head: log.head, put: visitor.Visit}
	v, err := s.x.ex.store.Read(ctx, ports.ReadRequest{Log: r.Log}, ports.Each(until.visit))
	switch {
	case err != nil, v.Damaged() && !until.done:
		return v, err
	case !until.done:
		return v, changedWhileRead(log.log)
	}
	return manifest.Verdict{Health: log.health, Head: log.head}, nil
}

// Confirm implements ports.Logs: the importing store makes what it acknowledges durable itself.
func (s *Source) Confirm(context.Context, manifest.Log, manifest.Head) error { return nil }

// Append implements ports.Logs. It always returns STORE_READ_ONLY.
func (s *Source) Append(_ context.Context, _ ports.Witness, at manifest.Head, _ manifest.Plan) (manifest.Head, error) {
	return at, fault.New(fault.StoreReadOnly, "the source of an import is read, never written")
}

// Object implements ports.Objects.
func (s *Source) Object(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest) ([]byte, error) {
	return s.x.ex.store.Object(ctx, kind, ref)
}

// ObjectStream implements ports.ObjectStreams.
func (s *Source) ObjectStream(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest) (io.ReadCloser, int64,
	error) {
	return s.x.ex.store.ObjectStream(ctx, kind, ref)
}

// Tombstone implements ports.Tombstones.
func (s *Source) Tombstone(ctx context.Context, ref canon.Digest) (canon.Value, bool, error) {
	return s.x.ex.store.Tombstone(ctx, ref)
}

// Sessions implements ports.Sessions.
func (s *Source) Sessions(context.Context) ([]id.Session, error) {
	return []id.Session{s.x.session}, nil
}

// SideLogs implements ports.SideLogs. Any other owner than the session has none.
func (s *Source) SideLogs(_ context.Context, owner string) ([]string, error) {
	if owner != s.x.session.String() {
		return nil, nil
	}
	return s.x.out.SideLogs, nil
}

// StoreID implements ports.Identity: what a signature says about the store of the source counts no more than in a
// bundle, which does not record its store.
func (s *Source) StoreID(context.Context, ports.Create) (id.Store, error) { return id.Store{}, nil }

// Inspect implements ports.Inspector: what else is in the store is not part of the source.
func (s *Source) Inspect(context.Context) ([]manifest.Finding, error) { return nil, nil }

// InspectSession implements ports.Inspector, as Inspect.
func (s *Source) InspectSession(context.Context, id.Session) ([]manifest.Finding, error) {
	return nil, nil
}

// Failures implements ports.Availability.
func (s *Source) Failures() ports.Failures { return s.x.ex.store.Failures() }

// WithoutChanges implements ports.Inspector.
func (s *Source) WithoutChanges(ctx context.Context, log manifest.Log, do func() error) error {
	return s.x.ex.store.WithoutChanges(ctx, log, do)
}
