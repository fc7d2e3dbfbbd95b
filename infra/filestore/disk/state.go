package disk

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
)

// State describes what a directory contains: no store, a store of Waybill, or a foreign store.
//
// The states are:
//   - no store: the directory is missing, empty, or has only leftovers of a creation;
//   - a store of this version: store.json is valid and all its features are known;
//   - a store with an unknown roCompat feature: it is read, and refusal is STORE_READ_ONLY;
//   - a foreign store: sessions/ without store.json; it is read, and refusal is STORE_FOREIGN.
//
// Everything else is an error of readState, and the store does not open.
type State struct {
	ID      id.Store
	Tenant  string       // the name that the store recorded, "" for one that recorded none
	Exists  bool         // a store, Waybill's or a foreign one, exists
	Foreign bool         // written by another program: read, never written (docs/design.md#foreign-stores)
	Refusal *fault.Fault // why nothing may be written; nil when writing is allowed
}

// StoreData is the data of store.json.
//
//	{"createdAtMs":1730000000000,"features":{"compat":[],"incompat":[],"roCompat":[]},
//	 "storeId":"store_…"}
//
// The envelope with kind, format and digest is that of package controlfile.
type StoreData struct {
	CreatedAtMs int64    `json:"createdAtMs,omitzero"`
	Features    features `json:"features"`
	StoreID     id.Store `json:"storeId"`
	Tenant      string   `json:"tenant,omitzero"` // name of the tenant, as given by who created the store
}

// features are the names of capabilities that a binary must know: Incompat to open the store,
// ROCompat to write to it. Compat ones may be ignored (docs/design.md#lines-and-files).
type features struct {
	Compat   []string `json:"compat"`
	Incompat []string `json:"incompat"`
	ROCompat []string `json:"roCompat"`
}

// knownFeatures are the features of this version. A store that had signers has the roCompat feature signers
// (docs/design.md#signed-consent).
var knownFeatures = []string{"signers"}

// State returns the state of the directory. It is read again until a store exists, since another
// process may create one at any time; a store that exists does not change its state.
func (d *Disk) State() (State, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known.Exists {
		return d.known, nil
	}
	var err error
	d.known, err = d.readState()
	return d.known, err
}

// readState reads store.json, or classifies the directory without one. Errors: STORE_INVALID for a
// file or a directory with other content, STORE_CORRUPT, STORE_NEWER, STORE_IO.
func (d *Disk) readState() (State, error) {
	doc, ok, err := d.ReadControl(layout.StoreFile, layout.StoreKind)
	switch {
	case osfs.IsNotDirectory(err):
		return State{}, fault.Wrap(err, fault.StoreInvalid, "the path names a file; a store is a directory")
	case err != nil:
		return State{}, err
	case ok:
		return stateFromDocument(doc)
	}
	entries, err := d.Entries(".")
	if err != nil {
		return State{}, ReadFault(err)
	}
	// Leftovers of an interrupted creation count as no store: otherwise one crash at the wrong
	// moment would leave a directory that every command refuses.
	unmade, err := d.onlySkeleton(entries)
	if err != nil || unmade {
		return State{}, err
	}
	// Another process may have created a store since store.json was read.
	if _, made, err := d.Lookup(layout.StoreFile); err != nil || made {
		if err != nil {
			return State{}, ReadFault(err)
		}
		return d.readState()
	}
	if slices.Contains(entries, osfs.Entry{Name: "sessions", Kind: osfs.Directory}) {
		// A directory of sessions without store.json is the layout of WorkRail.
		refusal := fault.New(fault.StoreForeign,
			"the store was written by another program (no %s); it can only be read", layout.StoreFile)
		return State{Exists: true, Foreign: true, Refusal: refusal}, nil
	}
	return State{}, fault.New(fault.StoreInvalid, "the directory has other content and no %s: it is not a store",
		layout.StoreFile)
}

// stateFromDocument evaluates store.json. A format or feature of a newer version is refused with
// STORE_NEWER before anything is read by the rules of this version.
//
// The checks run in this order, and the first that fails decides: format, id, features.
func stateFromDocument(doc controlfile.Document) (State, error) {
	if doc.V < layout.StoreVersion { // no digest covers the format number, so it may be damaged
		return State{}, Corrupt(layout.StoreFile, "it is of format %d, which never existed", doc.V)
	}
	if doc.V != layout.StoreVersion {
		return State{}, fault.New(
			fault.StoreNewer,
			"the store is of format %d; this binary knows format %d",
			doc.V,
			layout.StoreVersion,
		)
	}
	text, _ := doc.Data.Get("storeId")
	storeID, err := id.ParseStore(text.Text())
	if err != nil {
		return State{}, Corrupt(layout.StoreFile, "storeId: %v", err)
	}
	// Members are read one by one: a newer version may have added some, and only the features
	// decide whether that matters.
	wanted, _ := doc.Data.Get("features")
	if name, unknown := firstUnknown(wanted, "incompat"); unknown {
		return State{}, fault.New(fault.StoreNewer, "the store uses %q, which this binary does not know", name)
	}
	st := State{ID: storeID, Exists: true}
	if tenant, _ := doc.Data.Get("tenant"); id.IsTenantName(tenant.Text()) {
		st.Tenant = tenant.Text()
	}
	if name, unknown := firstUnknown(wanted, "roCompat"); unknown {
		st.Refusal = fault.New(fault.StoreReadOnly, "the store uses %q: this binary may read it, not write to it",
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

// onlySkeleton reports a directory in which at most the creation of a store was begun: it is empty
// or contains only empty skeleton directories, temporary files and the use lock.
func (d *Disk) onlySkeleton(entries []osfs.Entry) (bool, error) {
	for _, e := range entries {
		if e.Kind == osfs.Regular && (strings.HasPrefix(e.Name, layout.TempPrefix) || e.Name == layout.UseLock) {
			continue
		}
		if e.Kind != osfs.Directory || !slices.Contains(layout.Skeleton, e.Name) {
			return false, nil
		}
		inside, err := d.Entries(e.Name)
		if e.Name == "workflows" && len(inside) == 1 && inside[0].Name == "pinned" {
			inside, err = d.Entries("workflows/pinned")
		}
		if err != nil || len(inside) > 0 {
			return false, ReadFault(err)
		}
	}
	return true, nil
}

// StateToWrite is State for a change that creates no store: it is refused with STORE_FOREIGN or STORE_READ_ONLY.
func (d *Disk) StateToWrite() (State, error) {
	st, err := d.State()
	if err == nil && st.Refusal != nil {
		err = st.Refusal
	}
	return st, err
}

// ToWrite is called before every change. It creates a missing store and refuses one that must not
// be written: STORE_FOREIGN or STORE_READ_ONLY.
//
// It is called before locks are taken, since creating the store takes the use lock.
func (d *Disk) ToWrite() (State, error) {
	st, err := d.StateToWrite()
	if err != nil || st.Exists {
		return st, err
	}
	if err := d.make(); err != nil {
		return st, WriteFault(err)
	}
	return d.State()
}

// make creates the directory, the skeleton and store.json, in this order, under the exclusive use
// lock. It does nothing when another process has created the store in between.
//
// A crash at any point leaves a directory that onlySkeleton accepts, so the next writer starts
// over.
func (d *Disk) make() error {
	if err := d.Mkdir("."); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// One process at a time: of two, the slower would remove directories that the faster relies on.
	held, err := d.LockUse(context.Background(), lock.Exclusive)
	if err != nil {
		return err
	}
	defer held.Unlock()
	if _, made, err := d.Lookup(layout.StoreFile); err != nil || made {
		return err
	}
	// Empty directories may be entries that a failed sync left in memory only: they are created
	// again, so that the syncs below apply to them (docs/design.md#failed-sync).
	for _, dir := range slices.Backward(layout.Skeleton) {
		_ = d.Remove(dir)
	}
	for _, dir := range layout.Skeleton {
		if _, err := d.Mkdirs(dir); err != nil {
			return err
		}
	}
	// The directories are synced before store.json is written: a durable store.json promises that
	// they exist.
	for _, dir := range []string{"workflows", "."} {
		if err := d.SyncDir(dir, osfs.Order); err != nil {
			return err
		}
	}
	raw, err := d.Entropy(16)
	if err != nil {
		return err
	}
	none := []string{}
	doc, err := controlfile.New(layout.StoreKind, layout.StoreVersion, StoreData{
		CreatedAtMs: d.Now().UnixMilli(),
		Features:    features{none, none, none},
		StoreID:     id.NewStore(id.Seed(raw)),
		Tenant:      d.Tenant,
	})
	if err != nil {
		return err
	}
	// Where locks do not work, one of two processes places its file, and both use that one.
	err = d.PutControl(layout.StoreFile, doc, d.Place)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}
