package upkeep

import (
	"context"
	"path"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
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
	st, err := k.d.StateToWrite()
	if err != nil {
		return out, err
	}
	if !st.Exists {
		return out, fault.New(fault.TargetNotFound, "no store exists here, and therefore no key to replace").
			Suggest("Check --store and --tenant; the first run creates a store and its keys.")
	}
	held, err := k.d.LockUse(ctx, lock.Exclusive)
	if err != nil {
		return out, err
	}
	defer held.Unlock()
	have, ok, err := read.ReadKeyring(k.d)
	if err != nil && !fault.Is(err, fault.KeyringInvalid) {
		return out, err // a newer format or a disk error: a new key would not fix it
	}
	if ok != (r.From != nil) || ok && have.Current != *r.From {
		return out, fault.New(fault.StoreConflict, "the keys were replaced by another process; nothing was changed").
			Suggest("Inspect them with %s before you replace them again: every remaining token "+
				"would become invalid.", fault.Command{"keys", "list"})
	}
	data, err := k.newKeyring()
	if err != nil {
		return out, err
	}
	if ok {
		data.Previous = read.KeyTextOf(have.Current[:])
	} else if out.QuarantinePlace, err = k.quarantineKeyring(st, r); err != nil {
		return out, disk.WriteFault(err)
	}
	out.Keys, err = k.putKeyring(data, k.d.Replace)
	return out, err
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
	why := manifest.NewFinding(manifest.ControlDamaged, layout.KeyringFile,
		"the keyring could not be used, and was replaced")
	step := ports.RepairStep{What: ports.MoveToQuarantine, From: layout.KeyringFile, Bytes: info.Size}
	return repair.Quarantine(k.d, ".", repair.Record{Actor: r.By, AtMs: r.AtMs, Findings: []manifest.Finding{why},
		Owner: st.ID.String(), Root: path.Dir(layout.KeyringFile), Steps: []ports.RepairStep{step}})
}
