package ledger

import (
	"context"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/ports"
	auditview "github.com/waybill/waybill/projections/audit"
)

// ImportedEvents returns which events of a log came with bundles. The session's
// import mark records the interval. Without the mark the audit record of the
// import counts, so that a lost file does not turn imported approvals into valid
// ones.
func (l *Ledger) ImportedEvents(ctx context.Context, log manifest.Log, records *Imports) (none imported.Span, err error) {
	s, err := id.ParseSession(log.Owner)
	if err != nil {
		return none, nil // logs of the store itself are never imported
	}
	c, err := l.store.SessionControl(ctx, s, ports.ImportedFile)
	if err != nil {
		return none, err
	}
	if c.V == 0 {
		return records.events(ctx, log.Root)
	}
	if c.V != imported.Version {
		return none, NewerControl(ports.ImportedFile, c.V)
	}
	mark, err := imported.Read(c.Data)
	return mark.Span(log.Table.Name), err
}

// ImportedOfLog is ImportedEvents of one log, without records that several calls share.
func (l *Ledger) ImportedOfLog(ctx context.Context, log manifest.Log) (imported.Span, error) {
	return l.ImportedEvents(ctx, log, l.NewImports())
}

// ImportedOf is ImportedEvents for the events of a session.
func (l *Ledger) ImportedOf(ctx context.Context, s id.Session) (imported.Span, error) {
	return l.ImportedEvents(ctx, manifest.SessionEvents(s), l.NewImports())
}

// Imports has the imports recorded in the audit log. The log is read when it is
// first needed; callers that ask about many sessions share one Imports.
type Imports struct {
	l        *Ledger
	complete bool
	records  *auditview.Imports // nil before the reading
}

// NewImports returns an Imports that has read nothing. It reads the audit log
// from the saved ledger on.
func (l *Ledger) NewImports() *Imports { return &Imports{l: l} }

// NewVerifiedImports is NewImports for callers that list or verify: it reads the
// audit log from its beginning, and no saved ledger.
func (l *Ledger) NewVerifiedImports() *Imports { return &Imports{l: l, complete: true} }

// events returns the recorded interval of imported events of the log at root. Of
// a damaged audit log the valid part counts.
func (b *Imports) events(ctx context.Context, root string) (none imported.Span, err error) {
	if b.records == nil {
		store, err := b.l.store.StoreID(ctx, ports.ReadOnly)
		if err != nil || store.IsZero() {
			return none, err
		}
		saved := auditview.NewLedger()
		if !b.complete {
			saved = b.l.savedLedger(ctx, audit.LogOf(store))
		}
		read, _, err := b.l.read(ctx, audit.LogOf(store), saved)
		if err != nil {
			return none, err
		}
		b.records = &read.Imports
	}
	return b.records.Span(root), nil
}

// NewerControl is STORE_NEWER for a control file of a later version.
func NewerControl(f ports.ControlFile, v int64) error {
	return fault.New(fault.StoreNewer, "%s is of version %d, which this binary does not know", f.Name, v)
}
