package layout

import (
	"path"
	"slices"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/ports"
)

// controlName matches the names of control files of the store's own directory.
var controlName = pattern.New(`^[a-z]{1,32}\.json$`)

// IsControl reports a name that callers may pass: that of a control file of the store's own directory, or HTTPKeysFile.
func IsControl(name string) bool { return controlName.MatchString(name) || name == HTTPKeysFile }

// IsRemovable reports the name of a control file that a repair may move away: any but StoreFile, without which there is
// no store.
func IsRemovable(name string) bool { return IsControl(name) && name != StoreFile }

// A tombstone is a control file beside the artifact's name, with the suffix erasedSuffix.
const (
	erasedSuffix  = ".erased"
	ErasedKind    = "erased"
	ErasedVersion = 1
)

// SideControlVersion is the format of control files outside the store's top directory.
const SideControlVersion = 1

// The keyring file, its kind and format, and the only algorithm of this version.
const (
	KeyringFile      = "keys/keyring.json"
	KeyringKind      = "keyring"
	KeyringVersion   = 1
	KeyringAlgorithm = "HMAC-SHA256"
)

// KeysDir is the directory of KeyringFile and HTTPKeysFile.
const KeysDir = "keys"

// HTTPKeysFile has the keys of the programs that call 'waybill serve'.
const HTTPKeysFile = "keys/http.json"

// RepairFile records, in a quarantine entry, why its files were moved. It is durable before any
// original is removed, so that no crash leaves quarantined files without it.
const (
	RepairFile    = "repair.json"
	RepairKind    = "repair"
	RepairVersion = 1
)

// SessionControls lists the control files that a session's directory may contain. Names are joined
// to the session's path, so only these are accepted.
var SessionControls = []ports.ControlFile{ports.ImportedFile, ports.KeepFile}

// SessionControlName is the path of a control file of a session. An unknown name or kind is
// INTERNAL.
func SessionControlName(session id.Session, f ports.ControlFile) (string, error) {
	if !slices.Contains(SessionControls, f) {
		return "", fault.New(fault.Internal, "%q of kind %q is not a control file of a session", f.Name, f.Kind)
	}
	return path.Join(SessionDir(session), f.Name), nil
}

// ImportMark is the path of the import mark of the session that a log belongs to; ok is false for a log of the
// store.
func ImportMark(log manifest.Log) (name string, ok bool) {
	session, err := id.ParseSession(log.Owner)
	if err != nil {
		return "", false
	}
	return path.Join(SessionDir(session), ports.ImportedFile.Name), true
}

// The directory of deleted sessions and the format of its control files.
const (
	TrashDir     = "trash"
	TrashVersion = 1
)
