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

const (
	storeFile = "store.json"
	storeKind = "store"
	storeV    = 1
)

// standing is what kind of store lies in the directory.
type standing struct {
	id      id.Store
	there   bool         // a store, ours or foreign
	foreign bool         // of another program: read, never written (R14)
	refusal *fault.Fault // why nothing may be written, nil when it may
}

// storeData is what store.json says about a store.
type storeData struct {
	CreatedAtMs int64    `json:"createdAtMs,omitzero"`
	Features    features `json:"features"`
	StoreID     id.Store `json:"storeId"`
}

// features are names of what a binary must know: Incompat to open the store,
// ROCompat to write to it; Compat ones may be ignored (R4).
type features struct {
	Compat   []string `json:"compat"`
	Incompat []string `json:"incompat"`
	ROCompat []string `json:"roCompat"`
}

// known features of this version: none so far.
var knownFeatures []string

// standing examines the directory until there is a store, which then stays what
// it is: another process may make one meanwhile.
func (s *Store) standing() (standing, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known.there {
		return s.known, nil
	}
	now, err := s.examine()
	if err == nil {
		s.known = now
	}
	return now, err
}

func (s *Store) examine() (standing, error) {
	doc, ok, err := s.readControl(storeFile, storeKind)
	switch {
	case osfs.IsNotDirectory(err):
		return standing{}, fault.Wrap(err, fault.StoreInvalid, "the path names a file; a store is a folder")
	case err != nil:
		return standing{}, err
	case ok:
		return readStanding(doc)
	}
	entries, err := s.fs.List(".")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return standing{}, nil
	case err != nil:
		return standing{}, readFault(err)
	}
	// What a crash left of making a store is as good as nothing there: otherwise one
	// crash at the wrong moment would leave a folder that no command accepts.
	unmade, err := s.unmade(entries)
	if err != nil || unmade {
		return standing{}, err
	}
	// Another process may have made a store while we looked around.
	if _, made, err := s.stat(storeFile); err != nil || made {
		if err != nil {
			return standing{}, readFault(err)
		}
		return s.examine()
	}
	if slices.Contains(entries, osfs.Entry{Name: "sessions", Kind: osfs.Directory}) {
		// The layout without store.json is WorkRail's.
		refusal := fault.New(fault.StoreForeign,
			"the store was written by another program (no %s); it can only be read", storeFile)
		return standing{there: true, foreign: true, refusal: refusal}, nil
	}
	return standing{}, fault.New(fault.StoreInvalid, "the folder holds other things and no %s: it is no store",
		storeFile)
}

// readStanding judges store.json: what a newer version may have meant is refused
// before anything is read by its rules.
func readStanding(doc controlfile.Document) (standing, error) {
	if doc.V < storeV {
		// no digest covers the format
		return standing{}, corrupt(storeFile, "it is of format %d, which there never was", doc.V)
	}
	if doc.V != storeV {
		return standing{}, fault.New(fault.StoreNewer, "the store is of format %d; this binary knows format %d", doc.V,
			storeV)
	}
	text, _ := doc.Data.Get("storeId")
	storeID, err := id.ParseStore(text.Text())
	if err != nil {
		return standing{}, corrupt(storeFile, "storeId: %v", err)
	}
	// Members are read one by one: a newer version may have added some, and only the
	// features say whether that matters.
	wanted, _ := doc.Data.Get("features")
	if name, unknown := firstUnknown(wanted, "incompat"); unknown {
		return standing{}, fault.New(fault.StoreNewer, "the store uses %q, which this binary does not know", name)
	}
	st := standing{id: storeID, there: true}
	if name, unknown := firstUnknown(wanted, "roCompat"); unknown {
		st.refusal = fault.New(fault.StoreReadOnly, "the store uses %q: this binary may read it, not write to it",
			name).
			Suggest("Use the newer binary that wrote it.")
	}
	return st, nil
}

// firstUnknown is the first feature of a kind that this version does not know.
func firstUnknown(features canon.Value, kind string) (string, bool) {
	list, _ := features.Get(kind)
	for i := range list.Len() {
		if name := list.Item(i).Text(); !slices.Contains(knownFeatures, name) {
			return name, true
		}
	}
	return "", false
}

// skeleton are the folders that a store is made with: they are durable before
// store.json is, so that no commit has to sync the way to them.
var skeleton = []string{"sessions", "snapshots", "artifacts", "workflows", "workflows/pinned", "keys", "quarantine"}

// unmade reports a directory where a store was begun at most: empty, or holding
// nothing but what a crash leaves of making one.
func (s *Store) unmade(entries []osfs.Entry) (bool, error) {
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

// StoreID implements ports.Identity.
func (s *Store) StoreID(ctx context.Context, create ports.Create) (id.Store, error) {
	if err := ctx.Err(); err != nil {
		return id.Store{}, readFault(err)
	}
	if create == ports.ReadOnly {
		// A foreign store and one that is not there have no id of ours: the zero id.
		st, err := s.standing()
		return st.id, err
	}
	st, err := s.toWrite()
	return st.id, err
}

// toWrite is the way to every change: it refuses stores that must not be
// written, and makes the one that is not there yet.
func (s *Store) toWrite() (standing, error) {
	st, err := s.standing()
	switch {
	case err != nil:
		return st, err
	case st.refusal != nil:
		return st, st.refusal
	case st.there:
		return st, nil
	}
	if err := s.make(); err != nil {
		return st, writeFault(err)
	}
	return s.standing()
}

func (s *Store) make() error {
	if err := s.fs.Mkdir("."); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// One at a time: of two, the slower would remove folders that the faster relies on.
	held, err := s.locks.Acquire(context.Background(), useLock, lock.Exclusive, s.o.LockWait)
	if err != nil {
		return busyFault(err, fault.StoreLocked, "the store")
	}
	defer held.Unlock()
	if _, made, err := s.stat(storeFile); err != nil || made {
		return err
	}
	// Empty folders that are there may be what a failed sync left in memory only:
	// they are made anew, so that the syncs below mean them (R7).
	for _, dir := range slices.Backward(skeleton) {
		_ = s.fs.Remove(dir)
	}
	for _, dir := range skeleton {
		if _, err := s.mkdirs(dir); err != nil {
			return err
		}
	}
	// First the folders, then the file that says they are there: a store.json that
	// is durable promises that they are.
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
	// Where locks do not hold, one of two places its file, and both use that.
	err = s.putControl(storeFile, doc, s.fs.Place)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// mkdirs makes a directory with its missing parents, and tells which names have
// to be durable before anything inside counts.
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
