package engine

import (
	"context"

	"github.com/waybill/waybill/durable/id"
)

// Cached reports whether a session's head cache is one that a call would begin with, and whether
// its first line is one that a search for a run would use.
func (e *Engine) Cached(s id.Session) (fold, brief bool) {
	_, fold = e.SavedFold(context.Background(), s)
	_, brief = e.Brief(context.Background(), s, e.HeadKey(context.Background()))
	return fold, brief
}
