package filestore

import (
	"context"
	"encoding/base64"
	"errors"
	"io/fs"
	"path"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// The keyring file, its kind and format, and the only algorithm of this version.
const (
	keyringFile = "keys/keyring.json"
	keyringKind = "keyring"
	keyringV    = 1
	keyringAlg  = "HMAC-SHA256"
)

// keyringData is the data of the keyring: the current key signs, and after a rotation the previous
// key is still accepted (docs/design.md#tokens).
//
//	{"algorithm":"HMAC-SHA256","current":"<base64>","previous":"<base64>"}
//
// The member previous is absent before the first rotation.
type keyringData struct {
	Algorithm string  `json:"algorithm"`
	Current   keyText `json:"current"`
	Previous  keyText `json:"previous,omitzero"`
}

type keyText string // 32 bytes in base64

// key decodes the text. Other base64 spellings and lengths are errors.
func (k keyText) key() (out token.Key, err error) {
	raw, err := base64.StdEncoding.Strict().DecodeString(string(k))
	if err == nil && len(raw) != len(out) {
		err = errors.New("a key of the wrong length")
	}
	copy(out[:], raw)
	return out, err
}

// Keys implements ports.Keyring. With ports.ReadOnly a missing keyring is KEYRING_INVALID with the
// detail "missing"; otherwise it is created. When two processes create it, one places its file and
// both use that one.
func (s *Store) Keys(ctx context.Context, create ports.Create) (token.Keys, error) {
	if err := ctx.Err(); err != nil {
		return token.Keys{}, readFault(err)
	}
	keys, ok, err := s.readKeyring()
	if ok || err != nil {
		return keys, err
	}
	if create == ports.ReadOnly {
		return keys, fault.New(fault.KeyringInvalid, "%s is missing", keyringFile).With("missing", true)
	}
	if _, err := s.toWrite(); err != nil {
		return keys, err
	}
	raw, err := s.entropy(len(token.Key{}))
	if err != nil {
		return keys, err
	}
	doc, err := controlfile.New(keyringKind, keyringV, keyringData{
		Algorithm: keyringAlg, Current: keyText(base64.StdEncoding.EncodeToString(raw)),
	})
	if err != nil {
		return keys, err
	}
	if err := s.makeKeysDir(); err != nil {
		return keys, writeFault(err)
	}
	// Placed, never replaced: a second keyring would invalidate every token that the first signed.
	if err := s.putControl(keyringFile, doc, s.fs.Place); err != nil && !errors.Is(err, fs.ErrExist) {
		return keys, writeFault(err)
	}
	keys, _, err = s.readKeyring()
	return keys, err
}

// makeKeysDir creates the directory of the keyring where it is missing. Its entry is durable before
// the first key is used.
func (s *Store) makeKeysDir() error {
	dir := path.Dir(keyringFile)
	if _, err := s.mkdirs(dir); err != nil {
		return err
	}
	return s.fs.SyncDir(path.Dir(dir), osfs.Order)
}

// readKeyring reads and decodes the keyring; ok is false for a missing one. A keyring that other
// users can read is refused with KEYRING_INVALID: the key allows signing tokens for any node. A
// newer format is STORE_NEWER.
//
// Permissions are checked before the content is read. On systems without such permissions Perm has
// no bits for other users.
func (s *Store) readKeyring() (keys token.Keys, ok bool, err error) {
	info, ok, err := s.stat(keyringFile)
	if err != nil || !ok {
		return keys, false, readFault(err)
	}
	if info.Perm&0o077 != 0 {
		return keys, false, fault.New(fault.KeyringInvalid, "%s can be read by others (mode %#o)", keyringFile,
			info.Perm).
			Suggest("Make it private with 'chmod 600', or replace the keys if another user may have read them.")
	}
	doc, ok, err := s.readControl(keyringFile, keyringKind)
	if err != nil || !ok {
		return keys, ok, keyringFault(err)
	}
	if doc.V != keyringV {
		return keys, false, fault.New(fault.StoreNewer, "%s is of format %d; this binary knows format %d", keyringFile,
			doc.V, keyringV)
	}
	var data keyringData
	if err := canon.Decode(doc.Data, &data); err != nil {
		return keys, false, keyringFault(err)
	}
	// A key for another algorithm must not be used with this one by mistake.
	if data.Algorithm != keyringAlg {
		return keys, false, fault.New(fault.KeyringInvalid, "%s is for %q, want %s", keyringFile, data.Algorithm,
			keyringAlg)
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
	return fault.Wrap(err, fault.KeyringInvalid, "%s is damaged", keyringFile)
}
