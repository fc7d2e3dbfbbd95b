package cli

import (
	"context"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/learning/installable"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/promptref"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Installations are the artifacts that applied proposals brought into the
// store.
type Installations []engine.InstalledArtifact

// Installed is what is in use in the store that the flags name. A store that
// cannot be opened, or whose log of proposals is not healthy, has nothing in
// use: that is logged as a warning, and workflows of other sources can still be
// listed.
func (a *App) Installed(ctx context.Context) Installations {
	o, err := a.Open(ctx)
	if err != nil {
		a.notInstalled(err.Error())
		return nil
	}
	defer o.Close()
	list, err := o.Installed(ctx, a.Flags.Workspace)
	switch {
	case err != nil:
		a.notInstalled(err.Error())
		return nil
	case list.Health != manifest.Healthy:
		a.notInstalled("the log of the proposals is " + string(list.Health))
	}
	return list.Installed
}

// notInstalled logs why installed artifacts are left out.
func (a *App) notInstalled(why string) {
	log := a.Log()
	log.Warn().Str("cause", why).Msg("installed things are left out; see 'waybill verify'")
}

// Workflows are the installed workflows as files of a catalog. Their refs are
// paths within the store, and name no folder of the machine.
func (all Installations) Workflows() (out []catalog.File) {
	for _, i := range all {
		if i.Slot.Kind == proposal.WorkflowChainPack {
			out = append(out, workflowsOf(i)...)
		}
	}
	return out
}

// workflowsOf are the workflows of one installation: a pack has several, each
// with a pointer to its place in the artifact.
func workflowsOf(i engine.InstalledArtifact) (out []catalog.File) {
	at := manifest.ObjectDir(manifest.Installed) + "/" + manifest.ObjectName(manifest.Installed, i.Artifact.SHA256)
	for _, w := range installable.Workflows(i.Value) {
		f := catalog.File{Kind: source.SourceInstalled, Ref: at, Data: w.Source.JCS()}
		if w.Pointer != "" {
			f.Ref += "#" + w.Pointer
		}
		out = append(out, f)
	}
	return out
}

// Prompts are the installed prompt templates that steps may refer to.
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

// Recorded is the kind of a source as a run records it. The recorded set is
// closed and has no word for installed artifacts: they are plugins there, and
// the ref says where they come from.
func Recorded(k source.SourceKind) event.SourceKind {
	if k == source.SourceInstalled {
		return event.SourcePlugin
	}
	return event.SourceKind(k)
}
