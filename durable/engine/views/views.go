// Package views implements the use cases that show runs: lists, one run with
// its steps, its events, timeline and graph, and what is new in a run that is
// followed. It appends nothing and signs no token.
//
// Start reading at Views.Runs.
package views

import (
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/ports"
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
}

// New returns the views of what r reads, which is s.
func New(r *session.Reader, s Source) *Views { return &Views{r, s} }
