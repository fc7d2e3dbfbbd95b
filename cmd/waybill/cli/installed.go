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

// Installations are what applied proposals brought.
type Installations []engine.InstalledArtifact

// Installed is what is in use here. A store that cannot be opened, or whose log of
// proposals is not healthy, has nothing in use: that is told, and stops nobody from
// looking at workflows of other sources.
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

func (a *App) notInstalled(why string) {
	log := a.Log()
	log.Warn().Str("cause", why).Msg("installed things are left out; see 'waybill verify'")
}

// Workflows are the installed ones as a catalog takes them. Their places are those of the
// store: no folder of the machine is in them.
func (all Installations) Workflows() (out []catalog.File) {
	for _, i := range all {
		if i.Slot.Kind == proposal.WorkflowChainPack {
			out = append(out, workflowsOf(i)...)
		}
	}
	return out
}

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

// Prompts are the installed templates that steps may refer to.
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

// Recorded is a source as a run keeps it. The set of the locks is closed and knows
// installed things as plugins; where one came from stands in the ref.
func Recorded(k source.SourceKind) event.SourceKind {
	if k == source.SourceInstalled {
		return event.SourcePlugin
	}
	return event.SourceKind(k)
}
