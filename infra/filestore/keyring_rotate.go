package filestore

import (
	"context"
	"encoding/base64"
	"path"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/infra/controlfile"
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
func (s *Store) Rotate(ctx context.Context, r ports.Rotation) (out ports.RotationResult, err error) {
	st, err := s.state()
	switch {
	case err != nil:
		return out, err
	case st.refusal != nil:
		return out, st.refusal
	case !st.exists:
		return out, fault.New(fault.TargetNotFound, "no store exists here, and therefore no key to replace").
			Suggest("Check --store and --tenant; the first run creates a store and its keys.")
	}
	held, err := s.locks.Acquire(ctx, useLock, lock.Exclusive, s.o.LockWait)
	if err != nil {
		return out, busyFault(err, fault.StoreLocked, "the store")
	}
	defer held.Unlock()
	have, ok, err := s.readKeyring()
	if err != nil && !fault.Is(err, fault.KeyringInvalid) {
		return out, err // a newer format or a disk error: a new key would not fix it
	}
	if ok != (r.From != nil) || ok && have.Current != *r.From {
		return out, fault.New(fault.StoreConflict, "the keys were replaced by another process; nothing was changed").
			Suggest("Inspect them with %s before you replace them again: every remaining token "+
				"would become invalid.", fault.Command{"keys", "list"})
	}
	raw, err := s.entropy(len(token.Key{}))
	if err != nil {
		return out, err
	}
	data := keyringData{Algorithm: keyringAlg, Current: keyTextOf(token.Key(raw))}
	if ok {
		data.Previous = keyTextOf(have.Current)
	} else if out.QuarantineDir, err = s.quarantineKeyring(st, r); err != nil {
		return out, writeFault(err)
	}
	doc, err := controlfile.New(keyringKind, keyringV, data)
	if err != nil {
		return out, err
	}
	if err := s.makeKeysDir(); err != nil {
		return out, writeFault(err)
	}
	if err := s.putControl(keyringFile, doc, s.fs.Replace); err != nil {
		return out, writeFault(err)
	}
	out.Keys, _, err = s.readKeyring()
	return out, err
}

// keyTextOf encodes a key for the file.
func keyTextOf(k token.Key) keyText { return keyText(base64.StdEncoding.EncodeToString(k[:])) }

// quarantineKeyring copies a keyring that cannot be used to the quarantine, with the permissions of
// the store's files. The new keyring then replaces it, so a keyring exists at every moment.
//
// Without a keyring file it does nothing and returns "".
func (s *Store) quarantineKeyring(st storeState, r ports.Rotation) (dir string, err error) {
	info, exists, err := s.stat(keyringFile)
	if err != nil || !exists {
		return "", err
	}
	a, err := s.newQuarantineEntry(st.id.String(), ".", r.AtMs)
	if err != nil {
		return "", err
	}
	why := manifest.NewFinding(manifest.ControlDamaged, keyringFile, "the keyring could not be used, and was replaced")
	step := ports.RepairStep{What: ports.MoveToQuarantine, From: keyringFile, To: a.target(keyringFile),
		Bytes: info.Size}
	err = a.writeRecord(
		repairRecord{Actor: r.By, AtMs: r.AtMs, Findings: []manifest.Finding{why}, Owner: st.id.String(),
			Root: path.Dir(keyringFile), Steps: []ports.RepairStep{step}},
	)
	if err == nil {
		err = a.copyFiles([]string{keyringFile})
	}
	if err == nil {
		err = a.syncAll()
	}
	if err != nil {
		a.undo()
	}
	return a.dir, err
}
