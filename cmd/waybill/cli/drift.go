package cli

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/warning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Pinned is what a run records of its workflow.
type Pinned struct {
	Run        id.Run
	WorkflowID string
	Hash       canon.Digest
	SourceKind event.SourceKind
	SourceRef  string
}

// PinnedOf returns what the run of an answer records of its workflow.
func PinnedOf(answer engine.Answer) Pinned {
	return Pinned{answer.Session.RunID, answer.Workflow.WorkflowID, answer.Workflow.WorkflowHash, answer.SourceKind,
		answer.SourceRef}
}

// Drift returns the warning that the file from which a run was started is another version now; nil if it
// is the same one, does not exist here, has another id, or cannot be read. It never fails: a run does not
// depend on its file (docs/design.md#compilation).
func Drift(ctx context.Context, a *App, p Pinned) *warning.Warning {
	if p.SourceKind != event.SourceProject && p.SourceKind != event.SourceUser && p.SourceKind != event.SourcePlugin {
		return nil
	}
	var attached Attachments
	if p.SourceKind == event.SourcePlugin {
		attached = a.Attached(ctx)
	}
	finder, err := a.Finder(attached.Folders()...)
	if err != nil {
		return nil
	}
	file, path, ok := finder.SourceFile(source.SourceKind(p.SourceKind), p.SourceRef)
	if !ok {
		return nil
	}
	e, err := compileNamed(ctx, a, finder, path, file)
	if err != nil || !e.IsAnotherVersion(p.WorkflowID, p.Hash) {
		return nil
	}
	name, run := typedPath(a, path), p.Run.String()
	if !e.Valid() {
		w := warning.Suggest(warning.WorkflowDrifted, fault.Suggest("The workflow file %s was changed since the run was started "+
			"and is not valid any more; the run goes by the version that it is pinned to. See what is wrong with %s.",
			shownPath(a, path), fault.Command(shellWords([]string{"workflows", "validate", name}))))
		return &w
	}
	w := warning.Suggest(warning.WorkflowDrifted, fault.Suggest("The workflow file %s was changed since the run was started; "+
		"the run goes by the version that it is pinned to. See the difference with %s, or start a new run with %s.", shownPath(a, path),
		a.StoreCommand("workflows", "compile", name, "--against", run), a.StoreCommand("run", name)))
	return &w
}

// WithDrift returns an answer with the warning of Drift, unless its run is over.
func WithDrift(ctx context.Context, a *App, answer engine.Answer) engine.Answer {
	if answer.Pending == nil {
		return answer
	}
	if w := Drift(ctx, a, PinnedOf(answer)); w != nil {
		answer.Warnings = append(answer.Warnings[:len(answer.Warnings):len(answer.Warnings)], *w)
	}
	return answer
}

// typedPath returns a path as it is typed in the working directory, so that it names a file.
func typedPath(a *App, path string) string {
	if dir, _, err := a.Workspace(); err == nil {
		if rel, err := filepath.Rel(dir, path); err == nil && !strings.HasPrefix(rel, "..") {
			return "./" + filepath.ToSlash(rel)
		}
	}
	return path
}

// shownPath returns a path for a sentence.
func shownPath(a *App, path string) string { return redact.Text(typedPath(a, path), nil) }
