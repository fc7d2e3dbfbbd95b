package upkeep

import (
	"context"
	"errors"
	"io/fs"
	"path"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/filestore/read"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// Keys implements ports.Keyring. With ports.ReadOnly a missing keyring is KEYRING_INVALID with the
// detail "missing"; otherwise it is created. When two processes create it, one places its file and
// both use that one.
func (k *Keeper) Keys(ctx context.Context, create ports.Create) (token.Keys, error) {
	if err := ctx.Err(); err != nil {
		return token.Keys{}, disk.ReadFault(err)
	}
	keys, ok, err := read.ReadKeyring(k.d)
	if ok || err != nil {
		return keys, err
	}
	if create == ports.ReadOnly {
		return keys, fault.New(fault.KeyringInvalid, "%s is missing", layout.KeyringFile).With("missing", true)
	}
	if _, err := k.d.ToWrite(); err != nil {
		return keys, err
	}
	data, err := k.newKeyring()
	if err != nil {
		return keys, err
	}
	// Placed, never replaced: a second keyring would invalidate every token that the first signed.
	return k.putKeyring(data, k.d.Place)
}

// directory creates a directory of the store where it is missing, and makes its entry durable.
func (k *Keeper) directory(dir string) error {
	_, err := k.d.Mkdirs(dir)
	if err == nil {
		err = k.d.SyncDir(path.Dir(dir), osfs.Order)
	}
	return err
}

// newKeyring returns a keyring with a single new key.
func (k *Keeper) newKeyring() (read.KeyringData, error) {
	raw, err := k.d.Entropy(len(token.Key{}))
	return read.KeyringData{Algorithm: layout.KeyringAlgorithm, Current: read.KeyTextOf(raw)}, err
}

// putKeyring stores a keyring durably, and returns the keys that are stored then: another process may have placed its
// keyring first. The directory is created where it is missing, and its entry is durable before the first key is used.
func (k *Keeper) putKeyring(data read.KeyringData, move func(from, to string) error) (keys token.Keys, err error) {
	doc, err := controlfile.New(layout.KeyringKind, layout.KeyringVersion, data)
	if err != nil {
		return keys, err
	}
	if err = k.directory(path.Dir(layout.KeyringFile)); err == nil {
		err = k.d.PutControl(layout.KeyringFile, doc, move)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return keys, disk.WriteFault(err)
	}
	keys, _, err = read.ReadKeyring(k.d)
	return keys, err
}
