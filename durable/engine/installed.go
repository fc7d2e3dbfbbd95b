package engine

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/projections"
)

// InstalledList is the document "installed": what applied proposals brought, and is in
// use. A log of proposals that is not healthy may have lost what took something out of
// use again: then nothing of it is (R29).
type InstalledList struct {
	Installed []InstalledArtifact `json:"installed"`
	// Erased are in use no more, although nobody rolled them back: their bytes were erased.
	Erased []projections.Installed `json:"erased,omitzero"`
	Health manifest.Health         `json:"health"`
}

// InstalledArtifact is one installation with its bytes.
type InstalledArtifact struct {
	projections.Installed
	Value canon.Value `json:"artifact"`
}

// Installed lists what is in use in a workspace. The log says what, by digest; the bytes
// are those in installed/, and where these are gone or wrong, those that were proposed.
func (g *Engine) Installed(ctx context.Context, workspace string) (InstalledList, error) {
	out := InstalledList{Installed: []InstalledArtifact{}, Health: manifest.Healthy}
	conf, err := g.config(ctx)
	if err != nil {
		return out, err
	}
	read, err := g.readProposalLog(ctx, conf)
	if err != nil {
		return out, err
	}
	if out.Health = read.verdict.Health; out.Health != manifest.Healthy {
		return out, nil
	}
	for _, i := range read.fold.Installed(workspace) {
		v, err := g.parsedObject(ctx, manifest.Installed, i.Artifact.SHA256)
		if fault.Is(err, fault.StoreCorrupt) {
			v, err = g.parsedObject(ctx, manifest.Artifact, i.Artifact.SHA256)
		}
		if ctx.Err() != nil {
			return out, fault.Wrap(ctx.Err(), fault.Interrupted, "reading was interrupted")
		}
		if fault.Is(err, fault.ArtifactErased) {
			out.Erased = append(out.Erased, i)
			continue
		}
		if err != nil {
			out.Health = manifest.CorruptTail // what is gone cannot be used, and must not look as if it had never been
			continue
		}
		out.Installed = append(out.Installed, InstalledArtifact{i, v})
	}
	return out, nil
}
