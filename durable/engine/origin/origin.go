// Package origin tells from which source the workflow of a run is, as it is shown beside its id
// (docs/design.md#workflow-sources). It decides from what the run records, and does not believe an
// import that claims to be of a bundled workflow. Start with Origins.
package origin

import (
	"context"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/store/sources"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/ports"
)

// importedSource is shown for a reserved id that came with a bundle and is not the workflow that is
// bundled under it.
const importedSource = string(event.SourcePlugin) + ":imported"

// SourceName returns the source of a recorded workflow as it is shown beside its id
// (docs/design.md#workflow-sources): plugin:NAME for one of an attached folder, "installed" for an
// installed one, else the kind.
func SourceName(kind event.SourceKind, ref string) string {
	name, _, ok := strings.Cut(ref, "/")
	switch {
	case kind != event.SourcePlugin:
		return string(kind)
	case ok && name == string(source.SourceInstalled):
		return name
	case ok && sources.IsName(name):
		return string(kind) + ":" + name
	}
	return string(kind)
}

// IsPlugin reports the source of a workflow that other people published: it is shown wherever the id
// of the workflow is, because the id alone may be taken for a bundled one
// (docs/design.md#workflow-sources).
func IsPlugin(name string) bool { return strings.HasPrefix(name, string(event.SourcePlugin)) }

// Origins tells the sources of the workflows of runs. The zero Origins believes what is recorded.
type Origins struct {
	// Bundled reports the version of a workflow that comes with this binary. nil: what runs record is
	// believed.
	Bundled func(workflowID string, hash canon.Digest) bool
	// Controls has the marks of imported sessions; nil: none is imported.
	Controls ports.SessionControls
	// AllImported reports that the sessions are those of a bundle.
	AllImported bool
}

// SourceOf returns the source of the workflow of a run as it is shown beside its id. A reserved id
// that came with a bundle is not believed to be the bundled workflow, unless it has its hash.
func (o Origins) SourceOf(ctx context.Context, s id.Session, started event.RunStarted) string {
	if o.IsImported(ctx, s, started) {
		return importedSource
	}
	return SourceName(started.WorkflowSourceKind, started.WorkflowSourceRef)
}

// IsImported reports a reserved id that came with a bundle, claims to be bundled and does not have
// the hash of the bundled workflow.
func (o Origins) IsImported(ctx context.Context, s id.Session, started event.RunStarted) bool {
	return started.WorkflowSourceKind != event.SourcePlugin && source.Reserved(started.WorkflowID) && o.Bundled != nil &&
		!o.Bundled(started.WorkflowID, started.WorkflowHash) && o.isImported(ctx, s)
}

// DependOnProgram reports that SourceOf answers by what is bundled with this program: another version of it may
// answer otherwise.
func (o Origins) DependOnProgram(ctx context.Context, s id.Session, started event.RunStarted) bool {
	if !source.Reserved(started.WorkflowID) {
		return false
	}
	return o.isImported(ctx, s)
}

// isImported reports that a session came with a bundle, also where that cannot be read.
func (o Origins) isImported(ctx context.Context, s id.Session) bool {
	if o.AllImported || o.Controls == nil {
		return o.AllImported
	}
	c, err := o.Controls.SessionControl(ctx, s, ports.ImportedFile)
	return err != nil || c.V != 0
}
