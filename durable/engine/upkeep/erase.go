package upkeep

import (
	"context"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/ports"
)

// ErasedArtifact is the document "erased": the result for one artifact.
type ErasedArtifact struct {
	SHA256 canon.Digest `json:"sha256"`
	// Bytes is the size before it was erased.
	Bytes int64 `json:"bytes"`
	// Already reports that an earlier call erased it.
	Already bool  `json:"already"`
	Note    *Note `json:"note,omitzero"`
	// Redactions are the places of the request from which a secret was removed.
	Redactions []redact.Finding `json:"redactions,omitzero"`
}

// Tombstone is the content of the control file that replaces the bytes of an
// erased artifact.
type Tombstone struct {
	Note
	// Bytes is the size before it was erased.
	Bytes int64 `json:"bytes"`
	// Imported reports that the tombstone came with a bundle. It does not
	// prevent the same bytes from being stored here.
	Imported bool         `json:"imported,omitzero"`
	SHA256   canon.Digest `json:"sha256"`
}

// data encodes the tombstone for its control file.
func (t Tombstone) data() canon.Value {
	v, err := canon.ValueOf(t)
	if err != nil {
		panic("engine: " + err.Error()) // cannot happen: all members have a JSON form
	}
	return v
}

// EraseArtifact removes the bytes of an artifact and stores a tombstone with
// actor, time and reason. The digest remains in the logs, which are never
// rewritten; reading the artifact is ARTIFACT_ERASED from then on. The artifact
// of an applied proposal is removed from installed/ as well: it is not in use
// any more, and the proposal remains applied on record until it is rolled back.
//
// Errors: ARTIFACT_NOT_FOUND, VALIDATION_ERROR without a reason. Repeated calls
// report Already.
func (u *Upkeep) EraseArtifact(ctx context.Context, by engine.Caller, ref canon.Digest, reason string) (ErasedArtifact,
	error) {
	n, redactions, err := newNote(by, strings.TrimSpace(reason))
	if err != nil {
		return ErasedArtifact{}, err
	}
	if n.Reason == "" {
		return ErasedArtifact{},
			fault.New(fault.ValidationError, "erasing an artifact requires a reason: nothing else remains of it").
				Suggest("Give one with --reason.")
	}
	// Checked before the intention is recorded: an unknown digest is probably a
	// typing error.
	if err := u.Erasable(ctx, ref); err != nil {
		return ErasedArtifact{}, err
	}
	var e ports.ErasureResult
	what := audit.Act{Action: audit.Erase, Target: audit.Target{Kind: audit.OfArtifact, ID: ref.String()},
		Reason: n.Reason}
	u.forget(ctx) // here too: a crash must not leave words of the text
	err = u.ledger.Act(ctx, by, what, func() (details map[string]string, err error) {
		e, err = u.store.Erase(ctx, ref, func(bytes int64) canon.Value {
			return Tombstone{Note: n, Bytes: bytes, SHA256: ref}.data()
		})
		return nil, err
	})
	u.forget(ctx)
	if err != nil {
		return ErasedArtifact{}, err
	}
	bytes, _ := e.Data.Get("bytes")
	return ErasedArtifact{SHA256: ref, Bytes: int64(bytes.Float()), Already: e.Already,
		Note: noteOf(ports.Control{V: noteVersion, Data: e.Data}), Redactions: redactions}, nil
}

// Erasable refuses with ARTIFACT_NOT_FOUND a digest that names neither a stored
// nor an erased artifact. A damaged artifact can be erased.
func (u *Upkeep) Erasable(ctx context.Context, ref canon.Digest) error {
	_, err := u.store.Object(ctx, manifest.Artifact, ref)
	if fault.Is(err, fault.StoreCorrupt) && fault.Of(err).Details["missing"] == true {
		_, err = u.store.Object(ctx, manifest.Installed, ref) // an installed copy is erased as well
	}
	switch {
	case err == nil, fault.Is(err, fault.ArtifactErased):
		return nil
	case fault.Is(err, fault.StoreCorrupt) && fault.Of(err).Details["missing"] == true:
		return fault.New(fault.ArtifactNotFound, "the store holds no artifact %s", ref).
			Suggest("%s names the artifacts of a run.", fault.Command{"runs", "events", "RUN"})
	case fault.Is(err, fault.StoreCorrupt):
		return nil
	}
	return err
}
