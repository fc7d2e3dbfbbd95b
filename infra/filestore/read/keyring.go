package read

import (
	"encoding/base64"
	"errors"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
)

// KeyringData is the data of the keyring: the current key signs, and after a rotation the previous
// key is still accepted (docs/design.md#tokens).
//
//	{"algorithm":"HMAC-SHA256","current":"<base64>","previous":"<base64>"}
//
// The member previous is absent before the first rotation.
type KeyringData struct {
	Algorithm string  `json:"algorithm"`
	Current   KeyText `json:"current"`
	Previous  KeyText `json:"previous,omitzero"`
}

// KeyText is a key of 32 bytes in base64.
type KeyText string

// KeyTextOf encodes a key.
func KeyTextOf(key []byte) KeyText { return KeyText(base64.StdEncoding.EncodeToString(key)) }

// key decodes the text. Other base64 spellings and lengths are errors.
func (k KeyText) key() (out token.Key, err error) {
	raw, err := base64.StdEncoding.Strict().DecodeString(string(k))
	if err == nil && len(raw) != len(out) {
		err = errors.New("a key of the wrong length")
	}
	copy(out[:], raw)
	return out, err
}

// ReadKeyring reads and decodes the keyring; ok is false for a missing one. A keyring that other
// users can read is refused with KEYRING_INVALID: the key allows signing tokens for any node. A
// newer format is STORE_NEWER.
//
// Permissions are checked before the content is read. On systems without such permissions Perm has
// no bits for other users.
func ReadKeyring(d *disk.Disk) (keys token.Keys, ok bool, err error) {
	info, ok, err := d.Lookup(layout.KeyringFile)
	if err != nil || !ok {
		return keys, false, disk.ReadFault(err)
	}
	if info.Perm&othersMask != 0 {
		return keys, false, fault.New(fault.KeyringInvalid, "%s can be read by others (mode %#o)", layout.KeyringFile,
			info.Perm).
			Suggest("Make it private with 'chmod 600', or replace the keys if another user may have read them.")
	}
	doc, ok, err := d.ReadControl(layout.KeyringFile, layout.KeyringKind)
	if err != nil || !ok {
		return keys, ok, keyringFault(err)
	}
	if doc.V != layout.KeyringVersion {
		return keys, false, fault.New(fault.StoreNewer, "%s is of format %d; this binary knows format %d",
			layout.KeyringFile, doc.V, layout.KeyringVersion)
	}
	var data KeyringData
	if err := canon.Decode(doc.Data, &data); err != nil {
		return keys, false, keyringFault(err)
	}
	// A key for another algorithm must not be used with this one by mistake.
	if data.Algorithm != layout.KeyringAlgorithm {
		return keys, false, fault.New(fault.KeyringInvalid, "%s is for %q, want %s", layout.KeyringFile, data.Algorithm,
			layout.KeyringAlgorithm)
	}
	if keys.Current, err = data.Current.key(); err == nil && data.Previous != "" {
		var previous token.Key
		previous, err = data.Previous.key()
		keys.Previous = &previous
	}
	return keys, err == nil, keyringFault(err)
}

// keyringFault maps damage and decoding errors to KEYRING_INVALID; other faults are returned
// unchanged.
func keyringFault(err error) error {
	if err == nil || fault.CodeOf(err) != fault.StoreCorrupt && fault.CodeOf(err) != fault.Internal {
		return err
	}
	return fault.Wrap(err, fault.KeyringInvalid, "%s is damaged", layout.KeyringFile)
}
