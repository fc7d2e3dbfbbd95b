// Package repair is what is wrong in a store in a database beside what reading a log shows, and what moves damage to the quarantine: logs
// without a valid end, control files that cannot be used, and, for package pgstore, the keyring. It decides not whether
// to repair. Start with New.
package repair

import (
	"github.com/waybill/waybill/infra/pgstore/db"
	"github.com/waybill/waybill/infra/pgstore/logs"
	"github.com/waybill/waybill/ports"
)

// Repairer inspects and repairs a store, through one handle. It is safe for use by several goroutines.
type Repairer struct {
	db   *db.DB
	logs *logs.Logs
}

var _ ports.Repairs = (*Repairer)(nil)

// New returns what inspects and repairs the store of a database, of which l are the logs.
func New(d *db.DB, l *logs.Logs) *Repairer { return &Repairer{d, l} }
