package upkeep

import (
	"context"
	"encoding/base64"
	"path"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/filestore/read"
	"github.com/waybill/waybill/infra/filestore/repair"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/ports"
)

// Rotate implements ports.Keyring. r.From is the current key that the caller saw, nil for none;
// another current key is STORE_CONFLICT. A keyring that cannot be used is copied to the quarantine
// first. The file does not record the time of the rotation: an additional member would make it
// unreadable for older binaries, and with it every token.
//
// The result has the keys after the rotation and, where the old file was copied, its directory in
// the quarantine. A store that does not exist is TARGET_NOT_FOUND.
func (k *Keeper) Rotate(ctx context.Context, r ports.Rotation) (out ports.RotationResult, err error) {
	st, err := k.d.State()
	switch {
	case err != nil:
		return out, err
	case st.Refusal != nil:
		return out, st.Refusal
	case !st.Exists:
		return out, fault.New(fault.TargetNotFound, "no store exists here, and therefore no key to replace").
			Suggest("Check --store and --tenant; the first run creates a store and its keys.")
	}
	held, err := k.d.Locks.Acquire(ctx, layout.UseLock, lock.Exclusive, k.d.LockWait)
	if err != nil {
		return out, disk.BusyFault(err, fault.StoreLocked, "the store")
	}
	defer held.Unlock()
	have, ok, err := k.read.ReadKeyring()
	if err != nil && !fault.Is(err, fault.KeyringInvalid) {
		return out, err // a newer format or a disk error: a new key would not fix it
	}
	if ok != (r.From != nil) || ok && have.Current != *r.From {
		return out, fault.New(fault.StoreConflict, "the keys were replaced by another process; nothing was changed").
			Suggest("Inspect them with %s before you replace them again: every remaining token "+
				"would become invalid.", fault.Command{"keys", "list"})
	}
	raw, err := k.d.Entropy(len(token.Key{}))
	if err != nil {
		return out, err
	}
	data := read.KeyringData{Algorithm: layout.KeyringAlgorithm, Current: keyTextOf(token.Key(raw))}
	if ok {
		data.Previous = keyTextOf(have.Current)
	} else if out.QuarantineDir, err = k.quarantineKeyring(st, r); err != nil {
		return out, disk.WriteFault(err)
	}
	doc, err := controlfile.New(layout.KeyringKind, layout.KeyringVersion, data)
	if err != nil {
		return out, err
	}
	if err := k.makeKeysDir(); err != nil {
		return out, disk.WriteFault(err)
	}
	if err := k.d.PutControl(layout.KeyringFile, doc, k.d.Replace); err != nil {
		return out, disk.WriteFault(err)
	}
	out.Keys, _, err = k.read.ReadKeyring()
	return out, err
}

// keyTextOf encodes a key for the file.
func keyTextOf(k token.Key) read.KeyText {
	return read.KeyText(base64.StdEncoding.EncodeToString(k[:]))
}

// quarantineKeyring copies a keyring that cannot be used to the quarantine, with the permissions of
// the store's files. The new keyring then replaces it, so a keyring exists at every moment.
//
// Without a keyring file it does nothing and returns "".
func (k *Keeper) quarantineKeyring(st disk.State, r ports.Rotation) (dir string, err error) {
	info, exists, err := k.d.Lookup(layout.KeyringFile)
	if err != nil || !exists {
		return "", err
	}
	a, err := k.repair.NewEntry(st.ID.String(), ".", r.AtMs)
	if err != nil {
		return "", err
	}
	why := manifest.NewFinding(manifest.ControlDamaged, layout.KeyringFile, "the keyring could not be used, and was replaced")
	step := ports.RepairStep{What: ports.MoveToQuarantine, From: layout.KeyringFile, To: a.Target(layout.KeyringFile),
		Bytes: info.Size}
	err = a.WriteRecord(
		repair.Record{Actor: r.By, AtMs: r.AtMs, Findings: []manifest.Finding{why}, Owner: st.ID.String(),
			Root: path.Dir(layout.KeyringFile), Steps: []ports.RepairStep{step}},
	)
	if err == nil {
		err = a.CopyFiles([]string{layout.KeyringFile})
	}
	if err == nil {
		err = a.SyncAll()
	}
	if err != nil {
		a.Undo()
	}
	return a.Dir, err
}
