package cli

import (
	"context"
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/learning/installable"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/promptref"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/infra/cron"
	"github.com/waybill/waybill/projections/proposals"
)

// Installations are the artifacts that applied proposals installed in the store.
type Installations []learning.InstalledArtifact

// Installed returns the artifacts that are installed in the selected store and workspace. If
// the store cannot be opened or read, or its proposal log is not healthy, it logs a warning, so
// that workflows of other sources can still be listed. For a damaged log it returns none; if
// only an artifact is damaged, it returns the others.
func (a *App) Installed(ctx context.Context) Installations {
	list, err := Ask(ctx, a, func(ctx context.Context, o *Store) (learning.InstalledList, error) {
		return o.Installed(ctx, a.Flags.Workspace)
	})
	if fault.Is(err, fault.TargetNotFound) {
		return nil // nothing is installed in a store that does not exist
	}
	if err == nil && list.Health != manifest.Healthy {
		err = fmt.Errorf("the proposal log is %s", list.Health)
	}
	if err != nil {
		log := a.Log()
		log.Warn().Str("cause", err.Error()).Msg("installed artifacts are omitted; run 'waybill verify'")
	}
	return list.Installed
}

// Workflows returns the installed workflows as catalog files. Their refs are paths relative to
// the store, so that they reveal no directory of the machine. For a pack with several, each ref
// ends with "#" and the JSON pointer of the workflow in the artifact.
func (all Installations) Workflows() (out []catalog.File) {
	for _, i := range all {
		if i.Slot.Kind != proposal.WorkflowChainPack {
			continue
		}
		at := manifest.ObjectDir(manifest.Installed) + "/" + manifest.ObjectName(manifest.Installed, i.Artifact.SHA256)
		for _, w := range installable.Workflows(i.Value) {
			f := catalog.File{Kind: source.SourceInstalled, Ref: at, Data: w.Source.JCS(), Replaces: replaced(i),
				Proposal: i.ProposalID.String()}
			if w.Pointer != "" {
				f.Ref += "#" + w.Pointer
			}
			out = append(out, f)
		}
	}
	return out
}

// replaced returns what an installed artifact is used instead of.
func replaced(i learning.InstalledArtifact) (out []catalog.Replaced) {
	for _, r := range i.ReplacedFiles {
		out = append(out, catalog.Replaced{Kind: r.SourceKind, Ref: r.SourceRef, Digest: r.Digest})
	}
	if r := i.Replaces; !r.IsZero() && !r.IsFile() {
		out = append(out, catalog.Replaced{Kind: r.SourceKind, Digest: r.Digest})
	}
	return out
}

// FindReplaced returns the function with which the engine finds what a proposal replaces: a file of the user
// or of the project, from the working directory.
func FindReplaced(a *App) learning.ReadReplaced {
	return func(ctx context.Context, r proposal.Replaces) (file learning.ReplacedFile, ok bool, err error) {
		finder, err := a.Finder()
		if err != nil {
			return file, false, err
		}
		all, err := finder.Workflows(ctx)
		for _, f := range all {
			if f.Kind != r.SourceKind || f.Ref != r.SourceRef || f.Err != nil {
				continue
			}
			root, parseErr := proposal.ReadFile(f.Ref, f.Data)
			file.Digest = canon.Sum(f.Data)
			file.Value, ok = root.Get("artifact")
			return file, ok && parseErr == nil, err
		}
		return file, false, err
	}
}

// Prompts returns the installed prompt templates that steps may refer to. An artifact that
// does not parse as a template is skipped.
func (all Installations) Prompts() (out []promptref.Template) {
	for _, i := range all {
		if i.Slot.Kind != proposal.PromptTemplate {
			continue
		}
		if t, err := promptref.TemplateOf(i.Value); err == nil {
			out = append(out, t)
		}
	}
	return out
}

// CheckInstallable returns the function with which the engine validates an
// artifact against all workflows and prompts of the catalog. The engine calls it
// under the lock of the proposals, with the artifacts that are installed then.
// If the catalog cannot be read the library is empty, and references to other
// workflows are reported as problems.
func CheckInstallable(ctx context.Context, a *App) func(proposal.Kind, canon.Value,
	[]learning.InstalledArtifact) []problem.Problem {
	return func(kind proposal.Kind, artifact canon.Value, present []learning.InstalledArtifact) []problem.Problem {
		var library compile.Library
		// Without a working directory no workflow can be found.
		if finder, err := a.Finder(); err == nil {
			files, _ := finder.Workflows(ctx)
			bindings, _ := finder.Bindings(ctx)
			// Workflows of a pack may call its own routines.
			own := Installations{{Installation: proposals.Installation{Slot: proposal.Slot{Kind: kind}},
				Value: artifact}}
			files = append(append(files, Installations(present).Workflows()...), own.Workflows()...)
			library = catalog.Sources{Files: files, Bindings: bindings, Prompts: Installations(present).Prompts()}.Library()
		}
		return installable.Check(installable.Kind(kind), artifact,
			installable.Options{Library: library, Schedule: cron.Schedules{}.Check})
	}
}

// RecordedSourceKind converts a source kind to the kind that a run records. The recorded set is closed
// (docs/design.md#closed-sets) and has no member for installed artifacts: these are recorded
// as plugin, and the recorded ref is their path in the store.
func RecordedSourceKind(k source.SourceKind) event.SourceKind {
	if k == source.SourceInstalled {
		return event.SourcePlugin
	}
	return event.SourceKind(k)
}
