package engine

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/travel/rewrite"
	"github.com/waybill/waybill/ports"
)

// Relation is the closed set of what an import can come to.
type Relation string

// The relations. Same, Ahead and Behind say how the session of this store stands to
// the bundle's; nothing is written then.
const (
	Imported      Relation = "imported"        // it was not there, and is now, under its own ids
	ImportedAsNew Relation = "imported_as_new" // under new ids
	Same          Relation = "same"            // the store holds exactly this
	Ahead         Relation = "ahead"           // the store's session went on since
	Behind        Relation = "behind"          // the bundle's session went on since
)

// Import is the document "import".
type Import struct {
	Relation  Relation         `json:"relation"`
	SessionID id.Session       `json:"sessionId"` // in this store
	BundleID  string           `json:"bundleId"`
	Was       id.Session       `json:"bundleSessionId"`
	Head      canon.Digest     `json:"head"` // of the session in this store
	Events    int64            `json:"events"`
	Health    manifest.Health  `json:"health"`
	Runs      []ImportedRun    `json:"runs"`
	Mapping   *rewrite.Mapping `json:"mapping,omitzero"` // of an import as new
	Warnings  []string         `json:"warnings"`
}

// ImportedRun is a run that came with a session. Its tokens are this store's own.
type ImportedRun struct {
	RunSummary
	StateToken string `json:"stateToken,omitzero"` // absent where nobody can go on with it
	Next       *Next  `json:"next"`
}

// ImportRequest says how to import.
type ImportRequest struct {
	AsNew bool // under new ids, whatever is there
}

// Import takes a bundle's session into the store (locks section 1.3). Everything
// about it is verified before the first byte is written; a session that is there
// already is compared by its chain and left alone, and one of another history is
// imported under new ids, which follow from the bundle's head and the store: the same
// import twice finds what the first one wrote. A crash leaves nothing visible.
func (g *Engine) Import(ctx context.Context, by Caller, src ports.Bundle, req ImportRequest) (Import, error) {
	m := &importer{g: g, by: by, src: src, out: Import{BundleID: src.Envelope().BundleID, Was: src.Session(),
		Warnings: []string{}}}
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
		case relation != "" && relation != diverged:
			return m.reportExisting(ctx, src.Session(), relation)
		case relation == diverged || src.Envelope().Salvage != nil:
			asNew = true
		}
	}
	if asNew && m.foreign {
		return m.out, fault.New(fault.BundleCollision,
			"session %s holds facts of another program and keeps its ids, and they are taken or were not wanted",
			src.Session())
	}
	return m.importSession(ctx, asNew)
}

// diverged is the relation of two histories; no import ends with it.
const diverged Relation = "diverged"

// importing is one import under way.
type importer struct {
	g        *Engine
	by       Caller
	src      ports.Bundle
	head     manifest.Head
	foreign  bool // it holds facts that this binary does not know
	renaming *rewrite.Renaming
	logs     map[string]int64 // how many events of each side log came
	out      Import
}

// verify judges the bundle as a store is judged. What a store would report as an
// error refuses it.
func (m *importer) verify(ctx context.Context) error {
	v, err := VerifyBundle(ctx, m.src)
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
		return fault.New(fault.BundleInvalidFormat, "the bundle's session has no events")
	}
	return nil
}

// bundleFault is the refusal of a bundle for what was found in it.
func bundleFault(f manifest.Finding) error {
	code := fault.BundleIntegrityFailed
	switch kind, _, _ := strings.Cut(f.Path, "/"); {
	case f.Code == manifest.ObjectMissing && kind == manifest.ObjectDir(manifest.Snapshot):
		code = fault.BundleMissingSnapshot
	case f.Code == manifest.ObjectMissing && kind == "workflows":
		code = fault.BundleMissingPinnedWorkflow
	}
	out := fault.New(code, "%s: %s", f.Path, f.Message).With("finding", string(f.Code)).With("path", f.Path)
	if f.Event != nil {
		out.With("eventIndex", *f.Event)
	}
	return out
}

// VerifyBundle verifies a bundle as the store of one session that it is.
func VerifyBundle(ctx context.Context, src ports.Bundle) (Verification, error) {
	return ReadOnly(src).Verify(ctx)
}

// ReadOnly is the engine over a bundle: everything that reads works as on a store.
func ReadOnly(src ports.Bundle) *Engine {
	return &Engine{Logs: src, Objects: src, Streams: src, Graves: src, SideLogs: src, Sessions: src, Identity: src,
		Inspector: src, Keyring: noKeys{}}
}

// found reports on a session that is there already.
func (m *importer) reportExisting(ctx context.Context, s id.Session, relation Relation) (Import, error) {
	m.out.Relation, m.out.SessionID = relation, s
	return m.out, m.describe(ctx)
}

// take writes the session, and says what it came to.
func (m *importer) importSession(ctx context.Context, asNew bool) (Import, error) {
	target := audit.Target{Kind: audit.OfSession, ID: m.src.Session().String()}
	committed := false
	store, err := m.g.Identity.StoreID(ctx, ports.MayCreate)
	if err != nil {
		return m.out, err
	}
	m.out.Relation, m.out.SessionID = Imported, m.src.Session()
	if asNew {
		m.out.Relation, m.out.SessionID = ImportedAsNew, id.ImportedSession(store, m.head.Digest.String())
		target.ID = m.out.SessionID.String()
		// Looked for before anything is put on record: the same import again is no act.
		if relation, err := m.compareNew(ctx); err != nil || relation != "" {
			m.out.Relation = relation
			if err == nil && relation == diverged {
				err = fault.New(fault.BundleCollision,
					"session %s, which this import would become, is there with another history", m.out.SessionID).
					Suggest("Look at it with 'waybill runs list', and delete it with 'waybill sessions delete %s' if "+
						"it is not wanted.", m.out.SessionID)
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
	act := audit.Act{Action: audit.Import, Target: target, Details: map[string]string{"bundleId": m.out.BundleID,
		"head":   m.head.Digest.String(),
		"events": strconv.FormatInt(m.head.Next, 10)}}
	err = m.g.act(ctx, m.by, act, func() (map[string]string, error) {
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
	if !committed { // somebody imported the same meanwhile
		if m.out.Relation, err = m.compareAgain(ctx, asNew); err != nil {
			return m.out, err
		}
	}
	err = m.describe(ctx)
	return m.out, err
}

// compareAgain says how the session stands that appeared while this one was on its way.
func (m *importer) compareAgain(ctx context.Context, asNew bool) (relation Relation, err error) {
	if asNew {
		relation, err = m.compareNew(ctx)
	} else {
		relation, err = m.compare(ctx)
	}
	if err == nil && (relation == "" || relation == diverged) {
		err = fault.New(fault.StoreConflict, "session %s appeared while it was imported, with another history",
			m.out.SessionID)
	}
	return relation, err
}

// describe fills in how the session stands in this store.
func (m *importer) describe(ctx context.Context) error {
	if e := m.src.Envelope(); e.Salvage != nil {
		m.out.Warnings = append(m.out.Warnings,
			fmt.Sprintf("The bundle is a salvage: what its session held behind event %d is not in it.", m.head.Next-1))
	}
	if e := m.src.Envelope(); e.Redacted != nil {
		m.out.Warnings = append(m.out.Warnings, "The bundle was redacted: it is not word for word what was recorded.")
	}
	err := m.g.describeImport(ctx, &m.out)
	m.setMapping()
	return err
}
