package upkeep

import (
	"context"
	"encoding/base64"
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
	keys, ok, err := k.read.ReadKeyring()
	if ok || err != nil {
		return keys, err
	}
	if create == ports.ReadOnly {
		return keys, fault.New(fault.KeyringInvalid, "%s is missing", layout.KeyringFile).With("missing", true)
	}
	if _, err := k.d.ToWrite(); err != nil {
		return keys, err
	}
	raw, err := k.d.Entropy(len(token.Key{}))
	if err != nil {
		return keys, err
	}
	doc, err := controlfile.New(layout.KeyringKind, layout.KeyringVersion, read.KeyringData{
		Algorithm: layout.KeyringAlgorithm, Current: read.KeyText(base64.StdEncoding.EncodeToString(raw)),
	})
	if err != nil {
		return keys, err
	}
	if err := k.makeKeysDir(); err != nil {
		return keys, disk.WriteFault(err)
	}
	// Placed, never replaced: a second keyring would invalidate every token that the first signed.
	if err := k.d.PutControl(layout.KeyringFile, doc, k.d.Place); err != nil && !errors.Is(err, fs.ErrExist) {
		return keys, disk.WriteFault(err)
	}
	keys, _, err = k.read.ReadKeyring()
	return keys, err
}

// makeKeysDir creates the directory of the keyring where it is missing. Its entry is durable before
// the first key is used.
func (k *Keeper) makeKeysDir() error {
	dir := path.Dir(layout.KeyringFile)
	if _, err := k.d.Mkdirs(dir); err != nil {
		return err
	}
	return k.d.SyncDir(path.Dir(dir), osfs.Order)
}
