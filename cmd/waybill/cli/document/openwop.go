package document

import (
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/openwop"
)

// RunEvents is the document "run_events": the run events of a run. Of a damaged log they are those before the
// damage.
type RunEvents struct {
	Events []openwop.RunEvent `json:"events"`
	Health manifest.Health    `json:"health"`
	Status openwop.Status     `json:"status"`
}

// DebugBundle is the document "debug_bundle": what was written.
type DebugBundle struct {
	RunID       id.Run `json:"runId"`
	Events      int64  `json:"events"`
	Annotations int64  `json:"annotations"`
	Bytes       int64  `json:"bytes"`
	// Truncated reports that later events or annotations are left out.
	Truncated bool   `json:"truncated"`
	File      string `json:"file"` // as the caller named it
}
