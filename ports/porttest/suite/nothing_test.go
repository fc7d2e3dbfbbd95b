package suite_test

import (
	"bytes"
	"context"
	"io"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// Stores of which one method does nothing: it returns zero values and no error.
type (
	noRead                 struct{ suite.Store }
	noVisit                struct{ suite.Store }
	noConfirm              struct{ suite.Store }
	noAppend               struct{ suite.Store }
	noLock                 struct{ suite.Store }
	noHold                 struct{ suite.Store }
	noObject               struct{ suite.Store }
	noObjectStream         struct{ suite.Store }
	noSessions             struct{ suite.Store }
	noSideLogs             struct{ suite.Store }
	noStoreID              struct{ suite.Store }
	noTenant               struct{ suite.Store }
	noKeys                 struct{ suite.Store }
	noRotate               struct{ suite.Store }
	noCachedHead           struct{ suite.Store }
	noStoreHead            struct{ suite.Store }
	noControl              struct{ suite.Store }
	noUpdateControl        struct{ suite.Store }
	noSessionControl       struct{ suite.Store }
	noUpdateSessionControl struct{ suite.Store }
	noDropSessionControl   struct{ suite.Store }
	noBeginImport          struct{ suite.Store }
	noBeginExtension       struct{ suite.Store }
	noTombstone            struct{ suite.Store }
	noTrashEntries         struct{ suite.Store }
	noDiscard              struct{ suite.Store }
	noRestore              struct{ suite.Store }
	noEmpty                struct{ suite.Store }
	noLogRoots             struct{ suite.Store }
	noUnreadEntries        struct{ suite.Store }
	noOtherContent         struct{ suite.Store }
	noEachSize             struct{ suite.Store }
	noSurvey               struct{ suite.Store }
	noErase                struct{ suite.Store }
	noExclusive            struct{ suite.Store }
	noRepairLog            struct{ suite.Store }
	noRepairControl        struct{ suite.Store }
	noInspect              struct{ suite.Store }
	noInspectSession       struct{ suite.Store }
	noWithoutChanges       struct{ suite.Store }
	noDigests              struct{ suite.Store }
	noGroup                struct{ suite.Store }
	noEachStored           struct{ suite.Store }
	noInspectWithObjects   struct{ suite.Store }
	noLogBytes             struct{ suite.Store }
	noUnknownEntries       struct{ suite.Store }
	noDescriptors          struct{ suite.Store }
	noNotPerformed         struct{ suite.Store }
	noBriefs               struct{ suite.CataloguedStore }
	noEachBrief            struct{ suite.CataloguedStore }
	noKeepBrief            struct{ suite.CataloguedStore }
)

type (
	ctx     = context.Context
	change  = func(ports.Control) (ports.Control, error)
	digest  = canon.Digest
	kind    = manifest.ObjectKind
	finding = manifest.Finding
)

func (noRead) Read(ctx, ports.ReadRequest, ports.NewVisitor) (v manifest.Verdict, err error) { return }
func (s noVisit) Read(c ctx, r ports.ReadRequest, _ ports.NewVisitor) (manifest.Verdict, error) {
	return s.Store.Read(c, r, ports.Skip)
}
func (noConfirm) Confirm(ctx, manifest.Log, manifest.Head) (err error) { return }
func (noAppend) Append(ctx, ports.Witness, manifest.Head, manifest.Plan) (h manifest.Head, err error) {
	return
}
func (noLock) Lock(ctx, manifest.Log) (func() error, error)     { return func() error { return nil }, nil }
func (noHold) Performers() ports.Performers                     { return noPerformers{} }
func (noObject) Object(ctx, kind, digest) (b []byte, err error) { return }
func (noObjectStream) ObjectStream(ctx, kind, digest) (io.ReadCloser, int64, error) {
	return io.NopCloser(&bytes.Buffer{}), 0, nil
}
func (noSessions) Sessions(ctx) (l []id.Session, err error)                   { return }
func (noSideLogs) SideLogs(ctx, string) (l []string, err error)               { return }
func (noStoreID) StoreID(ctx, ports.Create) (s id.Store, err error)           { return }
func (noTenant) Tenant(ctx) (name string, err error)                          { return }
func (noKeys) Keys(ctx, ports.Create) (k token.Keys, err error)               { return }
func (noRotate) Rotate(ctx, ports.Rotation) (r ports.RotationResult, e error) { return }
func (noCachedHead) CachedHead(ctx, manifest.Log, int, int64) (b []byte, err error) {
	return
}
func (noStoreHead) StoreHead(ctx, manifest.Log, int, []byte) (err error)         { return }
func (noControl) Control(ctx, ports.ControlFile) (c ports.Control, err error)    { return }
func (noUpdateControl) UpdateControl(ctx, ports.ControlFile, change) (err error) { return }
func (noSessionControl) SessionControl(ctx, id.Session, ports.ControlFile) (c ports.Control, err error) {
	return
}
func (noUpdateSessionControl) UpdateSessionControl(ctx, id.Session, ports.ControlFile, change) (err error) {
	return
}
func (noDropSessionControl) DropSessionControl(ctx, id.Session, ports.ControlFile) (err error) {
	return
}
func (noBeginImport) BeginImport(ctx, id.Session) (ports.SessionImport, error) {
	return idleImport{}, nil
}
func (noBeginExtension) BeginExtension(ctx, id.Session, []ports.Extended) (ports.SessionImport, error) {
	return idleImport{}, nil
}
func (noTombstone) Tombstone(ctx, digest) (v canon.Value, ok bool, err error) { return }
func (noTrashEntries) TrashEntries(ctx) (l []ports.TrashEntry, err error)     { return }
func (noDiscard) Discard(ctx, id.Session, int64, canon.Value, func() error) (e ports.TrashEntry, err error) {
	return
}
func (noRestore) Restore(ctx, string) (s id.Session, err error)              { return }
func (noEmpty) Empty(ctx, string) (err error)                                { return }
func (noLogRoots) LogRoots(ctx) (l []ports.LogRoot, err error)               { return }
func (noUnreadEntries) UnreadEntries(ctx) (l []ports.UnreadEntry, err error) { return }
func (noOtherContent) ReadOtherContent(ctx, func([]byte)) (err error)        { return }
func (noEachSize) EachSize(ctx, kind, func(ports.SizedObject)) (err error)   { return }
func (noSurvey) Survey(ctx) (s ports.Survey, err error)                      { return }
func (noErase) Erase(ctx, digest, func(int64) canon.Value) (r ports.ErasureResult, err error) {
	return
}
func (noExclusive) Exclusive(ctx, func(ports.Sweeper) error) (err error)             { return }
func (noRepairLog) RepairLog(ctx, ports.LogRepair) (r ports.RepairResult, err error) { return }
func (noRepairControl) RepairControl(ctx, ports.ControlRepair, func(ports.Control) error) (r ports.RepairResult,
	err error) {
	return
}
func (noInspect) Inspect(ctx) (f []finding, err error)                              { return }
func (noInspectSession) InspectSession(ctx, id.Session) (f []finding, err error)    { return }
func (noWithoutChanges) WithoutChanges(ctx, manifest.Log, func() error) (err error) { return }
func (noDigests) Digests(ctx, manifest.Log, func() ports.DigestVisitor) (v manifest.Verdict, err error) {
	return
}
func (s noGroup) Digests(c ctx, log manifest.Log, visit func() ports.DigestVisitor) (manifest.Verdict, error) {
	return s.Store.Digests(c, log, func() ports.DigestVisitor { visit(); return idleDigests{} })
}
func (noEachStored) EachStored(ctx, kind, func(digest)) (err error) { return }
func (noInspectWithObjects) InspectWithObjects(ctx, func(kind, digest)) (f []finding, err error) {
	return
}
func (noLogBytes) LogBytes(ctx, manifest.Log) (n int64, err error) { return }

func (noUnknownEntries) UnknownEntries(ctx) (names []string, err error) { return }
func (noDescriptors) Failures() (n ports.Failures)                      { return }

func (noNotPerformed) NotPerformed(ctx, id.Session) (err error)                   { return }
func (noBriefs) Briefs(ctx, ports.BriefQuery) (l []ports.BriefSession, err error) { return }
func (noEachBrief) EachBrief(ctx, ports.BriefQuery, func(*ports.BriefSession, *manifest.BriefRun) error) (err error) {
	return
}
func (noKeepBrief) KeepBrief(ctx, id.Session, manifest.Head, manifest.Brief) (err error) {
	return
}

// noPerformers gives a lease to every caller.
type noPerformers struct{}

func (noPerformers) Hold(ctx, id.Session) (ports.Lease, error) {
	return ports.Lease{Release: func() error { return nil }}, nil
}

// idleDigests is a visitor that does nothing.
type idleDigests struct{}

func (idleDigests) Group([]digest, manifest.Head) error { return nil }

// idleImport is an import that does nothing.
type idleImport struct{}

func (idleImport) Segment(ctx, string, manifest.Segment) error         { return nil }
func (idleImport) Object(ctx, kind, digest, io.Reader) error           { return nil }
func (idleImport) Tombstone(ctx, digest, canon.Value) error            { return nil }
func (idleImport) Control(ctx, ports.ControlFile, ports.Control) error { return nil }
func (idleImport) Commit(ctx) (placed bool, err error)                 { return }
func (idleImport) End() error                                          { return nil }

// imports is a store whose imports are changed.
type imports struct {
	suite.Store
	wrap func(ports.SessionImport) ports.SessionImport
}

func (s imports) BeginImport(c ctx, of id.Session) (ports.SessionImport, error) {
	a, err := s.Store.BeginImport(c, of)
	if err != nil {
		return nil, err
	}
	return s.wrap(a), nil
}

// Imports of which one method does nothing.
type (
	noSegment         struct{ ports.SessionImport }
	noImportObject    struct{ ports.SessionImport }
	noImportTombstone struct{ ports.SessionImport }
	noImportControl   struct{ ports.SessionImport }
	noCommit          struct{ ports.SessionImport }
	noEnd             struct{ ports.SessionImport }
)

func (noSegment) Segment(ctx, string, manifest.Segment) error               { return nil }
func (noImportObject) Object(ctx, kind, digest, io.Reader) error            { return nil }
func (noImportTombstone) Tombstone(ctx, digest, canon.Value) error          { return nil }
func (noImportControl) Control(ctx, ports.ControlFile, ports.Control) error { return nil }
func (noCommit) Commit(ctx) (placed bool, err error)                        { return }
func (noEnd) End() error                                                    { return nil }

// sweeps is a store whose sweepers are changed.
type sweeps struct {
	suite.Store
	wrap func(ports.Sweeper) ports.Sweeper
}

func (s sweeps) Exclusive(c ctx, do func(ports.Sweeper) error) error {
	return s.Store.Exclusive(c, func(w ports.Sweeper) error { return do(s.wrap(w)) })
}

// Sweepers of which one method does nothing.
type (
	noRemoveObject   struct{ ports.Sweeper }
	noRemoveLeftover struct{ ports.Sweeper }
	noRemoveUnborn   struct{ ports.Sweeper }
	noRemoveLog      struct{ ports.Sweeper }
)

func (noRemoveObject) RemoveObject(ctx, kind, digest) error                           { return nil }
func (noRemoveLeftover) RemoveLeftover(ctx, string) (gone bool, err error)            { return }
func (noRemoveUnborn) RemoveUnborn(ctx, id.Session) (gone bool, err error)            { return }
func (noRemoveLog) RemoveLog(ctx, manifest.Log, manifest.Head) (gone bool, err error) { return }
