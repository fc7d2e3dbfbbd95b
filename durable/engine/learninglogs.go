package engine

import (
	"github.com/waybill/waybill/durable/audit"
	"github.com/waybill/waybill/durable/event"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/manifest"
)

// annotationsLog is the side log of a session that holds what people say of its runs.
func annotationsLog(s id.Session) manifest.Log {
	return manifest.SessionSide(s, event.Opaque(audit.Annotations, "sessionId"))
}

// proposalsLog is the log of the store that holds what was proposed.
func proposalsLog(s id.Store) manifest.Log {
	return manifest.StoreLog(s, event.Opaque(audit.Proposals, "storeId"))
}
