package session

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/ports"
)

// Bundle is a bundle with the answers of a store that has no keys, no caches, no
// control files and no trash. It is read and never written.
type Bundle struct{ ports.Bundle }

// ReadOnly returns a bundle as the Source of a Reader.
func ReadOnly(b ports.Bundle) Bundle { return Bundle{b} }

// errBundle refuses a change of a bundle.
func errBundle() error { return fault.New(fault.Invariant, "a bundle cannot be changed") }

// CachedHead implements ports.HeadCache: nothing is cached.
func (Bundle) CachedHead(context.Context, manifest.Log, int, int64) ([]byte, error) {
	return nil, nil
}

// StoreHead implements ports.HeadCache.
func (Bundle) StoreHead(context.Context, manifest.Log, int, []byte) error { return errBundle() }

// Keys implements ports.Keyring: tokens of a bundle are never shown.
func (Bundle) Keys(context.Context, ports.Create) (token.Keys, error) {
	return token.Keys{}, fault.New(fault.KeyringInvalid, "a bundle has no keys")
}

// Rotate implements ports.Keyring.
func (Bundle) Rotate(context.Context, ports.Rotation) (ports.RotationResult, error) {
	return ports.RotationResult{}, errBundle()
}

// UnknownEntries implements ports.UnknownEntries: a bundle has one session.
func (Bundle) UnknownEntries(context.Context) ([]string, error) { return nil, nil }

// SessionControl implements ports.SessionControls: a bundle has no control files.
func (Bundle) SessionControl(context.Context, id.Session, ports.ControlFile) (ports.Control, error) {
	return ports.Control{}, nil
}

// UpdateSessionControl implements ports.SessionControls.
func (Bundle) UpdateSessionControl(context.Context, id.Session, ports.ControlFile,
	func(ports.Control) (ports.Control, error)) error {
	return errBundle()
}

// DropSessionControl implements ports.SessionControls.
func (Bundle) DropSessionControl(context.Context, id.Session, ports.ControlFile) error {
	return errBundle()
}

// Digests implements ports.Digests: a bundle is verified completely or not at all.
func (Bundle) Digests(context.Context, manifest.Log, func() ports.DigestVisitor) (manifest.Verdict, error) {
	return manifest.Verdict{}, fault.New(fault.Invariant, "a bundle is verified with its events")
}

// EachStored implements ports.Digests: opening a bundle refuses objects that
// nothing refers to.
func (Bundle) EachStored(context.Context, manifest.ObjectKind, func(canon.Digest)) error { return nil }

// InspectWithObjects implements ports.Digests.
func (b Bundle) InspectWithObjects(ctx context.Context, _ func(manifest.ObjectKind, canon.Digest)) ([]manifest.Finding,
	error) {
	return b.Inspect(ctx)
}

// LogBytes implements ports.Digests: the size is unknown.
func (Bundle) LogBytes(context.Context, manifest.Log) (int64, error) { return 0, nil }

// Failures implements ports.Availability: an open bundle opens no more files, and one of another store is in that.
func (b Bundle) Failures() ports.Failures {
	if of, ok := b.Bundle.(ports.Availability); ok {
		return of.Failures()
	}
	return ports.Failures{}
}
