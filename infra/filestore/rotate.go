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

// Rotate implements ports.Keyring. The file says nothing of when it was rotated: a
// member more would keep older binaries from reading any token.
func (s *Store) Rotate(ctx context.Context, r ports.Rotation) (out ports.Rotated, err error) {
	st, err := s.standing()
	switch {
	case err != nil:
		return out, err
	case st.refusal != nil:
		return out, st.refusal
	case !st.there:
		return out, fault.New(fault.TargetNotFound, "there is no store here, and so no key to replace").
			Suggest("Check --store and --tenant; the first run makes a store and its keys.")
	}
	held, err := s.locks.Acquire(ctx, useLock, lock.Exclusive, s.o.LockWait)
	if err != nil {
		return out, busyFault(err, fault.StoreLocked, "the store")
	}
	defer held.Unlock()
	have, ok, err := s.readKeyring()
	if err != nil && !fault.Is(err, fault.KeyringInvalid) {
		return out, err // of a later version, or the disk's: nothing that a new key would mend
	}
	if ok != (r.From != nil) || ok && have.Current != *r.From {
		return out, fault.New(fault.StoreConflict, "the keys were replaced meanwhile: nothing was changed").
			Suggest("Look at them with 'waybill keys list' before you replace them once more: every token that is " +
				"left would become worthless.")
	}
	raw, err := s.entropy(len(token.Key{}))
	if err != nil {
		return out, err
	}
	data := keyringData{Algorithm: keyringAlg, Current: keyTextOf(token.Key(raw))}
	if ok {
		data.Previous = keyTextOf(have.Current)
	} else if out.Folder, err = s.keyringAside(st, r); err != nil {
		return out, writeFault(err)
	}
	doc, err := controlfile.New(keyringKind, keyringV, data)
	if err != nil {
		return out, err
	}
	if err := s.keysFolder(); err != nil {
		return out, writeFault(err)
	}
	if err := s.putControl(keyringFile, doc, s.fs.Replace); err != nil {
		return out, writeFault(err)
	}
	out.Keys, _, err = s.readKeyring()
	return out, err
}

func keyTextOf(k token.Key) keyText { return keyText(base64.StdEncoding.EncodeToString(k[:])) }

// keyringAside copies a keyring that cannot be used to the quarantine, where nobody
// else can read it. The new one then takes its name: at no moment is there none.
func (s *Store) keyringAside(st standing, r ports.Rotation) (folder string, err error) {
	info, there, err := s.stat(keyringFile)
	if err != nil || !there {
		return "", err
	}
	a, err := s.newAside(st.id.String(), ".", r.AtMs)
	if err != nil {
		return "", err
	}
	why := manifest.NewFinding(manifest.ControlDamaged, keyringFile, "the keyring could not be used, and was replaced")
	step := ports.RepairStep{What: ports.SetAside, From: keyringFile, To: a.to(keyringFile), Bytes: info.Size}
	err = a.note(repairNote{Actor: r.By, AtMs: r.AtMs, Findings: []manifest.Finding{why}, Owner: st.id.String(),
		Root: path.Dir(keyringFile), Steps: []ports.RepairStep{step}})
	if err == nil {
		err = a.take([]string{keyringFile})
	}
	if err == nil {
		err = a.settle()
	}
	if err != nil {
		a.undo()
	}
	return a.folder, err
}
