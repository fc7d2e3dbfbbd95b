// Package views implements the use cases that show a run: the run with
// its steps, its events, timeline and graph, and what is new in a run that is
// followed. It appends nothing and signs no token. Start reading at Views.Run.
package views

import (
	"context"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// Source is what the views require: a store, or a bundle that is read as one.
type Source interface {
	session.Source
	ports.UnknownEntries
}

// Views shows the runs of one store or bundle. It is safe for concurrent use.
type Views struct {
	r     *session.Reader
	store Source
	Here
}

// Over returns the views with another source of objects.
func (v Views) Over(s Source) *Views { return &Views{v.r, s, v.Here} }

// Here is what a store knows about its sessions besides their logs. A bundle knows none of it.
type Here struct {
	// Imported returns which events of a log of a session came with bundles; nil: all of them did.
	Imported ImportedEvents
	// Approval returns whose approvals the pending step of a run waits for; nil: it is not known.
	Approval PendingApproval
	// HandedOver reports that the last event of a session hands it over from this store; nil: it is not known.
	HandedOver func(context.Context, id.Session, *runs.Fold) (bool, error)
}

// PendingApproval returns whose approvals the step that is pending at a node waits for, nil if it needs
// none.
type PendingApproval func(context.Context, session.Resolved) (*engine.PendingApproval, error)

// ImportedEvents returns which events of a log of a session came with bundles.
type ImportedEvents func(context.Context, manifest.Log) (imported.Span, error)

// importedOf returns which of a session's own events came with bundles.
func (v *Views) importedOf(ctx context.Context, s id.Session) (imported.Span, error) {
	return v.Imported(ctx, manifest.SessionEvents(s))
}

// New returns the views of what r reads, which is s.
func New(r *session.Reader, s Source, here Here) *Views { return &Views{r: r, store: s, Here: here} }
