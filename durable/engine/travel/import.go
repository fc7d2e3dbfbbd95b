package travel

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/travel/rewrite"
	"github.com/waybill/waybill/ports"
)

// Relation is the closed set of results of an import.
type Relation string

// The relations. NewSession and FastForward write; the others relate the session of this
// store to the bundle's, and nothing is written.
const (
	// NewSession means that the session was absent, and was imported: under its own ids, or
	// under new ones, which the mapping has.
	NewSession Relation = "new"
	// Same means that the store has exactly the bundle's events.
	Same Relation = "same"
	// FastForward means that the bundle continues the store's session, which was
	// extended.
	FastForward Relation = "fast_forward"
	// Ahead means that the store has the bundle's events and more.
	Ahead Relation = "ahead"
	// Diverged means that both have events that the other one does not have. It is
	// returned with SESSION_DIVERGED.
	Diverged Relation = "diverged"
	// Behind is a relation of a comparison only: the other log has the first one's
	// events and more.
	Behind Relation = "behind"
)

// Import is the document "import".
type Import struct {
	Relation        Relation   `json:"relation"`
	SessionID       id.Session `json:"sessionId"` // in this store
	BundleID        string     `json:"bundleId"`
	BundleSessionID id.Session `json:"bundleSessionId"`
	// Head and Events are those of the session in this store.
	Head   canon.Digest    `json:"head"`
	Events int64           `json:"events"`
	Health manifest.Health `json:"health"`
	Runs   []ImportedRun   `json:"runs"`
	// Arrived is what an import adds to a session of this store: who did what elsewhere.
	Arrived *Arrivals `json:"arrived,omitzero"`
	// Mapping has the new ids by old ids, when imported as new.
	Mapping *rewrite.Mapping `json:"mapping,omitzero"`
	// Warnings are sentences for people.
	Warnings []string `json:"warnings"`
	// Signature is the one over the bundle, if one was beside it. Additive.
	Signature *Signature `json:"signature,omitzero"`
}

// ImportedRun is a run of the imported session. Its tokens are signed by this
// store.
type ImportedRun struct {
	views.RunSummary
	// StateToken is absent if the run cannot be continued.
	StateToken string       `json:"stateToken,omitzero"`
	Next       *engine.Next `json:"next"`
}

// ImportRequest selects how to import.
type ImportRequest struct {
	// AsNew imports under new ids in any case.
	AsNew bool
	// Accept is asked before a session of this store is extended; nil refuses.
	Accept Acceptance
	// From is the store that a Source is of; the zero Origin for a bundle.
	From Origin
	// Checked is called at times while the bundle is verified, and Written with the number of events of the session's log
	// that are written, of how many; nil: not called.
	Checked func(verify.VerifyProgress)
	Written func(events, of int64)
}

// Origin is the store that a session comes from.
type Origin struct {
	StoreID id.Store `json:"storeId,omitzero"` // none of a store of another program
	Path    string   `json:"path"`             // its place: an absolute path
}

// Exchanged is the documents "push" and "pull": that of an import into the target store, with the store that is not
// that of the call.
type Exchanged struct {
	Import
	OtherStore Origin `json:"otherStore"`
}

// Acceptance decides whether what a bundle adds to a session of this store is imported. The document has the relation,
// the session and Arrived. Its error refuses the import, and nothing was written.
type Acceptance func(ctx context.Context, what Import) error

// Import imports a bundle's session into the store (docs/design.md#bundles).
// The bundle is verified completely before the first byte is written. If the
// session exists, the two logs are compared by their chains. A bundle that continues
// the store's session extends it (docs/design.md#home), if the caller accepts that;
// otherwise the store's session is not changed. Ids of an import under new ids are derived from
// the bundle's head and the store, so that a repeated import finds the result of
// the first. A crash leaves nothing visible.
//
// Errors: BUNDLE_INTEGRITY_FAILED, BUNDLE_MISSING_SNAPSHOT,
// BUNDLE_MISSING_PINNED_WORKFLOW and BUNDLE_INVALID_FORMAT for an invalid
// bundle; SESSION_DIVERGED if the store's session has another history; BUNDLE_COLLISION
// if the session cannot have the ids it needs; RUN_BUSY and SESSION_LOCKED if it is in use;
// STORE_CONFLICT if another session appears under the id meanwhile.
func (c *Exchange) Import(ctx context.Context, by engine.Caller, src ports.Bundle, req ImportRequest) (Import, error) {
	m := &importer{ex: c, by: by, src: src, checked: req.Checked, written: req.Written, parties: partiesOf(req.From), from: req.From,
		out: Import{BundleID: src.Envelope().BundleID, BundleSessionID: src.Session(),
			Warnings: []string{}}}
	out, err := m.run(ctx, req)
	return out, m.parties.checkSource(err, src.Session())
}

// run is Import.
func (m *importer) run(ctx context.Context, req ImportRequest) (Import, error) {
	src := m.src
	if err := m.verify(ctx); err != nil {
		return m.out, err
	}
	asNew := req.AsNew
	if !asNew {
		relation, err := m.compare(ctx)
		if err != nil {
			return m.out, err
		}
		switch {
		case relation != "":
			return m.importKnown(ctx, relation, req.Accept)
		case src.Envelope().Salvage != nil:
			asNew = true
		}
	}
	// Events of another program are opaque; ids in them cannot be replaced.
	if asNew && m.foreign {
		return m.out, fault.New(fault.BundleCollision,
			"session %s contains events of another program, so its ids cannot be changed; they are taken, or new ids "+
				"were requested",
			src.Session())
	}
	return m.importSession(ctx, asNew)
}

// importer is one import in progress.
type importer struct {
	ex   *Exchange
	by   engine.Caller
	src  ports.Bundle
	head manifest.Head
	// foreign reports events that this version does not know.
	foreign  bool
	renaming *rewrite.Renaming
	parties  parties
	from     Origin
	// placed is the head of the session's log that is written.
	placed manifest.Head
	// checked and written are those of the request.
	checked func(verify.VerifyProgress)
	written func(events, of int64)
	// logs has the number of imported events by side log.
	logs map[string]int64
	out  Import
}

// verify verifies the bundle like a store, and refuses it for any finding that
// is an error there. A bundle with an uncommitted tail is refused as well: no
// exporter writes one.
func (m *importer) verify(ctx context.Context) error {
	v, err := verify.Bundle(ctx, m.src, m.checked)
	if err != nil {
		return err
	}
	for _, s := range v.Sessions {
		for _, f := range s.Findings {
			if f.Severity == manifest.SeverityError || f.Code == manifest.UncommittedTail {
				return bundleFault(f)
			}
		}
		m.head, m.foreign = s.Head, s.Health == manifest.UnknownVersion
	}
	if m.head.IsZero() {
		return fault.New(fault.BundleInvalidFormat, "the session of %s has no events", m.parties.source)
	}
	return nil
}

// bundleFault converts a finding about a bundle to the error that refuses it.
func bundleFault(f manifest.Finding) error {
	// Missing objects have codes of their own, because the sender can fix them.
	code := fault.BundleIntegrityFailed
	switch kind, _, _ := strings.Cut(f.Path, "/"); {
	case f.Code == manifest.ObjectMissing && kind == manifest.ObjectDir(manifest.Snapshot):
		code = fault.BundleMissingSnapshot
	case f.Code == manifest.ObjectMissing && kind == "workflows":
		code = fault.BundleMissingPinnedWorkflow
	case f.Code == manifest.UnknownEvents && kind == "workflows":
		code = fault.BundleInvalidFormat // beyond the limits of every compiler
	}
	out := fault.New(code, "%s: %s", f.Path, f.Message).With("finding", string(f.Code)).With("path", f.Path)
	if f.Event != nil {
		out.With("eventIndex", *f.Event)
	}
	return out
}

// importKnown completes the result for a session that exists already, which a bundle that continues it extends. A
// session of the same events may have annotations elsewhere that are not here.
func (m *importer) importKnown(ctx context.Context, relation Relation, accept Acceptance) (Import, error) {
	m.out.Relation, m.out.SessionID = relation, m.src.Session()
	switch relation {
	case Diverged:
		return m.out, m.divergence(ctx)
	case Ahead:
		return m.out, m.describe(ctx)
	}
	x, err := m.planExtension(ctx)
	switch {
	case err != nil:
		return m.out, err
	case m.isEmpty(x):
		m.out.Relation = Same
		return m.out, m.describe(ctx)
	}
	return m.fastForward(ctx, x, accept)
}

// importSession writes the session between the two lines of an audited act, and
// completes the result. With asNew an earlier import of the same log is looked
// for first; finding one is no act and leaves no audit line.
func (m *importer) importSession(ctx context.Context, asNew bool) (Import, error) {
	target := audit.Target{Kind: audit.OfSession, ID: m.src.Session().String()}
	committed := false
	store, err := m.ex.store.StoreID(ctx, ports.MayCreate)
	if err != nil {
		return m.out, err
	}
	m.out.Relation, m.out.SessionID = NewSession, m.src.Session()
	if asNew {
		m.out.SessionID = id.ImportedSession(store, m.head.Digest.String())
		target.ID = m.out.SessionID.String()
		// A repeated import is detected before an intention is recorded.
		if relation, err := m.compareNew(ctx); err != nil || relation != "" {
			m.out.Relation = relation
			if err == nil && relation == Diverged {
				err = fault.New(fault.BundleCollision,
					"this import would create session %s, which exists with another history", m.out.SessionID).
					Suggest("Inspect it with %s, and delete it with %s if it is not needed.",
						fault.Command{"runs", "list"}, fault.Command{"sessions", "delete", m.out.SessionID.String()})
			}
			if err == nil {
				err = m.recomputeRenaming(ctx, store)
			}
			if err == nil {
				err = m.describe(ctx)
			}
			return m.out, err
		}
	}
	if err := m.warn(ctx, m.all); err != nil {
		return m.out, err
	}
	act := audit.Act{Action: audit.Import, Target: target, Details: m.auditDetails()}
	err = m.ex.ledger.Act(ctx, m.by, act, func() (map[string]string, error) {
		committed, err = m.writeArrival(ctx, store, asNew)
		details := map[string]string{"sessionId": m.out.SessionID.String()}
		if n := m.logs[audit.Annotations]; n > 0 {
			details["annotations"] = strconv.FormatInt(n, 10)
		}
		return details, err
	})
	if err != nil {
		return m.out, err
	}
	if !committed { // the session appeared while it was imported
		if m.out.Relation, err = m.compareAgain(ctx, asNew); err != nil {
			return m.out, err
		}
	}
	m.describeWritten(ctx)
	return m.out, nil
}

// compareAgain relates a session that appeared during the import to the bundle.
// STORE_CONFLICT if its history is another one.
func (m *importer) compareAgain(ctx context.Context, asNew bool) (relation Relation, err error) {
	if asNew {
		relation, err = m.compareNew(ctx)
	} else {
		relation, err = m.compare(ctx)
	}
	if err == nil && (relation == "" || relation == Diverged || relation == Behind) {
		err = fault.New(fault.StoreConflict, "session %s appeared while it was imported, with another history",
			m.out.SessionID)
	}
	return relation, err
}

// auditDetails are what the audit log records about any import.
func (m *importer) auditDetails() map[string]string {
	out := map[string]string{"bundleId": m.out.BundleID, "head": m.head.Digest.String(),
		"events": strconv.FormatInt(m.head.Next, 10)}
	if m.from != (Origin{}) {
		out["fromStore"] = m.from.Path
	}
	if !m.from.StoreID.IsZero() {
		out["fromStoreId"] = m.from.StoreID.String()
	}
	return out
}

// describe fills in the session as this store shows it, and warnings about the
// bundle. Nothing was written.
func (m *importer) describe(ctx context.Context) error {
	none := func(context.Context) ([]addedLog, error) { return nil, nil }
	if err := m.warn(ctx, none); err != nil {
		return err
	}
	err := m.ex.describeImport(ctx, &m.out)
	m.setMapping()
	return err
}

// describeWritten fills in the session that was written, as this store shows it. If that fails, the answer says that it
// was written all the same.
func (m *importer) describeWritten(ctx context.Context) {
	if err := m.ex.describeImport(ctx, &m.out); err != nil {
		m.out.Head, m.out.Events, m.out.Runs, m.out.Health = m.placed.Digest, m.placed.Next, []ImportedRun{}, manifest.Healthy
		if m.foreign {
			m.out.Health = manifest.UnknownVersion
		}
		m.out.Warnings = append(m.out.Warnings, fmt.Sprintf("The session was written, and cannot be shown: %s.", fault.Of(err).Message))
	}
	m.setMapping()
}

// warn adds warnings about the bundle, and about secrets in it, before anything is written. added returns the logs of which
// events will be added.
func (m *importer) warn(ctx context.Context, added func(context.Context) ([]addedLog, error)) error {
	if e := m.src.Envelope(); e.Salvage != nil {
		m.out.Warnings = append(m.out.Warnings,
			fmt.Sprintf("The bundle is a salvage: it does not contain the session's events after event %d.",
				m.head.Next-1))
	}
	if e := m.src.Envelope(); e.Redacted != nil {
		m.out.Warnings = append(m.out.Warnings, "The bundle was redacted: its texts differ from what was recorded.")
	}
	if m.from == (Origin{}) {
		return m.warnSuspected(ctx)
	}
	logs, err := added(ctx)
	if err != nil {
		return err
	}
	return m.warnAdded(ctx, logs)
}

// all are the logs of the session, each from its first event on.
func (m *importer) all(ctx context.Context) ([]addedLog, error) {
	names, err := m.src.SideLogs(ctx, m.src.Session().String())
	out := []addedLog{{log: manifest.SessionEvents(m.src.Session())}}
	for _, name := range names {
		out = append(out, addedLog{name: name, log: m.sideLog(name)})
	}
	return out, err
}
