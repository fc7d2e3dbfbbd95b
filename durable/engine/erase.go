package engine

import (
	"context"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// ErasedArtifact is the document "erased": what became of an artifact.
type ErasedArtifact struct {
	SHA256  canon.Digest `json:"sha256"`
	Bytes   int64        `json:"bytes"`   // that it had
	Already bool         `json:"already"` // it was erased before; what was left of the bytes is gone now
	Note    *Note        `json:"note,omitzero"`
}

// Tombstone is the data of the control file that stands for the bytes of an erased
// artifact.
type Tombstone struct {
	Note
	Bytes int64 `json:"bytes"` // that it had
	// Imported says that it came with a bundle: bytes that are brought here outlive it.
	Imported bool         `json:"imported,omitzero"`
	SHA256   canon.Digest `json:"sha256"`
}

func (t Tombstone) data() canon.Value {
	v, err := canon.ValueOf(t)
	if err != nil {
		panic("engine: " + err.Error()) // its types rule that out
	}
	return v
}

// EraseArtifact removes the bytes of an artifact and leaves a tombstone that says who,
// when and why: its digest stays in the logs, which nobody rewrites. An erased one
// reads as ARTIFACT_ERASED everywhere. That of a proposal takes what was installed of it
// along: it is in use no more, and stays applied on record until it is rolled back.
func (g *Engine) EraseArtifact(ctx context.Context, by Caller, ref canon.Digest, reason string) (ErasedArtifact,
	error) {
	n, err := newNote(by, strings.TrimSpace(reason))
	if err != nil {
		return ErasedArtifact{}, err
	}
	if n.Reason == "" {
		return ErasedArtifact{},
			fault.New(fault.ValidationError, "erasing an artifact needs a reason: it is all that is left of it").
				Suggest("Give one with --reason.")
	}
	// Before anything is put on record: a digest that nobody stored is a mistake.
	if err := g.Erasable(ctx, ref); err != nil {
		return ErasedArtifact{}, err
	}
	var e ports.Erased
	what := audit.Act{Action: audit.Erase, Target: audit.Target{Kind: audit.OfArtifact, ID: ref.String()},
		Reason: n.Reason}
	err = g.act(ctx, by, what, func() (details map[string]string, err error) {
		e, err = g.Retention.Erase(ctx, ref, func(bytes int64) canon.Value {
			return Tombstone{Note: n, Bytes: bytes, SHA256: ref}.data()
		})
		return nil, err
	})
	if err != nil {
		return ErasedArtifact{}, err
	}
	bytes, _ := e.Data.Get("bytes")
	return ErasedArtifact{SHA256: ref, Bytes: int64(bytes.Float()), Already: e.Already,
		Note: noteOf(ports.Control{V: noteVersion, Data: e.Data})}, nil
}

// Erasable refuses the digest of an artifact that neither is there nor was erased. A
// damaged one is there.
func (g *Engine) Erasable(ctx context.Context, ref canon.Digest) error {
	_, err := g.Objects.Object(ctx, manifest.Artifact, ref)
	if fault.Is(err, fault.StoreCorrupt) && fault.Of(err).Details["missing"] == true {
		_, err = g.Objects.Object(ctx, manifest.Installed, ref) // what an applied proposal brought goes with it
	}
	switch {
	case err == nil, fault.Is(err, fault.ArtifactErased):
		return nil
	case fault.Is(err, fault.StoreCorrupt) && fault.Of(err).Details["missing"] == true:
		return fault.New(fault.ArtifactNotFound, "the store holds no artifact %s", ref).
			Suggest("'waybill runs events RUN' names the artifacts of a run.")
	case fault.Is(err, fault.StoreCorrupt):
		return nil
	}
	return err
}
