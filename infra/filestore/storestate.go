package filestore

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// The file that makes a directory a store, its kind and its only format so far.
const (
	storeFile = "store.json"
	storeKind = "store"
	storeV    = 1
)

// storeState describes what a directory contains: no store, a store of Waybill, or a foreign store.
//
// The states are:
//   - no store: the directory is missing, empty, or has only leftovers of a creation;
//   - a store of this version: store.json is valid and all its features are known;
//   - a store with an unknown roCompat feature: it is read, and refusal is STORE_READ_ONLY;
//   - a foreign store: sessions/ without store.json; it is read, and refusal is STORE_FOREIGN.
//
// Everything else is an error of readState, and the store does not open.
type storeState struct {
	id      id.Store
	exists  bool         // a store, Waybill's or a foreign one, exists
	foreign bool         // written by another program: read, never written (docs/design.md#foreign-stores)
	refusal *fault.Fault // why nothing may be written; nil when writing is allowed
}

// storeData is the data of store.json.
//
//	{"createdAtMs":1730000000000,"features":{"compat":[],"incompat":[],"roCompat":[]},
//	 "storeId":"store_…"}
//
// The envelope with kind, format and digest is that of package controlfile.
type storeData struct {
	CreatedAtMs int64    `json:"createdAtMs,omitzero"`
	Features    features `json:"features"`
	StoreID     id.Store `json:"storeId"`
}

// features are the names of capabilities that a binary must know: Incompat to open the store,
// ROCompat to write to it. Compat ones may be ignored (docs/design.md#lines-and-files).
type features struct {
	Compat   []string `json:"compat"`
	Incompat []string `json:"incompat"`
	ROCompat []string `json:"roCompat"`
}

// knownFeatures are the features of this version: none so far.
var knownFeatures []string

// state returns the state of the directory. It is read again until a store exists, since another
// process may create one at any time; a store that exists does not change its state.
func (s *Store) state() (storeState, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known.exists {
		return s.known, nil
	}
	now, err := s.readState()
	if err == nil {
		s.known = now
	}
	return now, err
}

// readState reads store.json, or classifies the directory without one. Errors: STORE_INVALID for a
// file or a directory with other content, STORE_CORRUPT, STORE_NEWER, STORE_IO.
func (s *Store) readState() (storeState, error) {
	doc, ok, err := s.readControl(storeFile, storeKind)
	switch {
	case osfs.IsNotDirectory(err):
		return storeState{}, fault.Wrap(err, fault.StoreInvalid, "the path names a file; a store is a directory")
	case err != nil:
		return storeState{}, err
	case ok:
		return stateFromDocument(doc)
	}
	entries, err := s.fs.List(".")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return storeState{}, nil
	case err != nil:
		return storeState{}, readFault(err)
	}
	// Leftovers of an interrupted creation count as no store: otherwise one crash at the wrong
	// moment would leave a directory that every command refuses.
	unmade, err := s.onlySkeleton(entries)
	if err != nil || unmade {
		return storeState{}, err
	}
	// Another process may have created a store since store.json was read.
	if _, made, err := s.stat(storeFile); err != nil || made {
		if err != nil {
			return storeState{}, readFault(err)
		}
		return s.readState()
	}
	if slices.Contains(entries, osfs.Entry{Name: "sessions", Kind: osfs.Directory}) {
		// A directory of sessions without store.json is the layout of WorkRail.
		refusal := fault.New(fault.StoreForeign,
			"the store was written by another program (no %s); it can only be read", storeFile)
		return storeState{exists: true, foreign: true, refusal: refusal}, nil
	}
	return storeState{}, fault.New(fault.StoreInvalid, "the directory has other content and no %s: it is not a store",
		storeFile)
}

// stateFromDocument evaluates store.json. A format or feature of a newer version is refused with
// STORE_NEWER before anything is read by the rules of this version.
//
// The checks run in this order, and the first that fails decides: format, id, features.
func stateFromDocument(doc controlfile.Document) (storeState, error) {
	if doc.V < storeV { // no digest covers the format number, so it may be damaged
		// no digest covers the format
		return storeState{}, corrupt(storeFile, "it is of format %d, which never existed", doc.V)
	}
	if doc.V != storeV {
		return storeState{}, fault.New(
			fault.StoreNewer,
			"the store is of format %d; this binary knows format %d",
			doc.V,
			storeV,
		)
	}
	text, _ := doc.Data.Get("storeId")
	storeID, err := id.ParseStore(text.Text())
	if err != nil {
		return storeState{}, corrupt(storeFile, "storeId: %v", err)
	}
	// Members are read one by one: a newer version may have added some, and only the features
	// decide whether that matters.
	wanted, _ := doc.Data.Get("features")
	if name, unknown := firstUnknown(wanted, "incompat"); unknown {
		return storeState{}, fault.New(fault.StoreNewer, "the store uses %q, which this binary does not know", name)
	}
	st := storeState{id: storeID, exists: true}
	if name, unknown := firstUnknown(wanted, "roCompat"); unknown {
		st.refusal = fault.New(fault.StoreReadOnly, "the store uses %q: this binary may read it, not write to it",
			name).
			Suggest("Use the newer binary that wrote it.")
	}
	return st, nil
}

// firstUnknown returns the first feature of a kind that this version does not know.
func firstUnknown(features canon.Value, kind string) (string, bool) {
	list, _ := features.Get(kind)
	for i := range list.Len() {
		if name := list.Item(i).Text(); !slices.Contains(knownFeatures, name) {
			return name, true
		}
	}
	return "", false
}

// skeleton lists the directories that a new store contains. They are durable before store.json is,
// so that no commit has to sync the path to them.
var skeleton = []string{"sessions", "snapshots", "artifacts", "workflows", "workflows/pinned", "keys", "quarantine"}

// onlySkeleton reports a directory in which at most the creation of a store was begun: it is empty
// or contains only empty skeleton directories, temporary files and the use lock.
func (s *Store) onlySkeleton(entries []osfs.Entry) (bool, error) {
	for _, e := range entries {
		if e.Kind == osfs.Regular && (strings.HasPrefix(e.Name, tempPrefix) || e.Name == useLock) {
			continue
		}
		if e.Kind != osfs.Directory || !slices.Contains(skeleton, e.Name) {
			return false, nil
		}
		inside, err := s.fs.List(e.Name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, readFault(err)
		}
		if e.Name == "workflows" && len(inside) == 1 && inside[0].Name == "pinned" {
			inside, err = s.fs.List("workflows/pinned")
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) || len(inside) > 0 {
			return false, readFault(err)
		}
	}
	return true, nil
}

// StoreID implements ports.Identity. With ports.ReadOnly a missing store and a foreign one have the
// zero id; otherwise the store is created, or the refusal of toWrite is returned.
func (s *Store) StoreID(ctx context.Context, create ports.Create) (id.Store, error) {
	if err := ctx.Err(); err != nil {
		return id.Store{}, readFault(err)
	}
	if create == ports.ReadOnly {
		// A foreign store and a missing one have no store id: the zero id.
		st, err := s.state()
		return st.id, err
	}
	st, err := s.toWrite()
	return st.id, err
}

// toWrite is called before every change. It creates a missing store and refuses one that must not
// be written: STORE_FOREIGN or STORE_READ_ONLY.
//
// It is called before locks are taken, since creating the store takes the use lock.
func (s *Store) toWrite() (storeState, error) {
	st, err := s.state()
	switch {
	case err != nil:
		return st, err
	case st.refusal != nil:
		return st, st.refusal
	case st.exists:
		return st, nil
	}
	if err := s.make(); err != nil {
		return st, writeFault(err)
	}
	return s.state()
}

// make creates the directory, the skeleton and store.json, in this order, under the exclusive use
// lock. It does nothing when another process has created the store in between.
//
// A crash at any point leaves a directory that onlySkeleton accepts, so the next writer starts
// over.
func (s *Store) make() error {
	if err := s.fs.Mkdir("."); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// One process at a time: of two, the slower would remove directories that the faster relies on.
	held, err := s.locks.Acquire(context.Background(), useLock, lock.Exclusive, s.o.LockWait)
	if err != nil {
		return busyFault(err, fault.StoreLocked, "the store")
	}
	defer held.Unlock()
	if _, made, err := s.stat(storeFile); err != nil || made {
		return err
	}
	// Empty directories may be entries that a failed sync left in memory only: they are created
	// again, so that the syncs below apply to them (docs/design.md#failed-sync).
	for _, dir := range slices.Backward(skeleton) {
		_ = s.fs.Remove(dir)
	}
	for _, dir := range skeleton {
		if _, err := s.mkdirs(dir); err != nil {
			return err
		}
	}
	// The directories are synced before store.json is written: a durable store.json promises that
	// they exist.
	for _, dir := range []string{"workflows", "."} {
		if err := s.fs.SyncDir(dir, osfs.Order); err != nil {
			return err
		}
	}
	raw, err := s.entropy(16)
	if err != nil {
		return err
	}
	none := []string{}
	doc, err := controlfile.New(storeKind, storeV, storeData{
		CreatedAtMs: s.o.Now().UnixMilli(),
		Features:    features{none, none, none},
		StoreID:     id.NewStore(id.Seed(raw)),
	})
	if err != nil {
		return err
	}
	// Where locks do not work, one of two processes places its file, and both use that one.
	err = s.putControl(storeFile, doc, s.fs.Place)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// mkdirs creates a directory with its missing parents. It returns the names whose entries must be
// durable before anything inside counts; the parents of an existing directory are not among them.
func (s *Store) mkdirs(dir string) (made []string, err error) {
	err = s.fs.Mkdir(dir)
	if errors.Is(err, fs.ErrNotExist) && dir != "." {
		if made, err = s.mkdirs(path.Dir(dir)); err != nil {
			return nil, err
		}
		err = s.fs.Mkdir(dir)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return append(made, dir), nil
}
