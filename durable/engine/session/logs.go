package session

import (
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/manifest"
)

// LogsOf returns the logs of a session whose changes its views show: its events and its annotations. ports.Changes
// watches them.
func LogsOf(s id.Session) []manifest.Log {
	return []manifest.Log{manifest.SessionEvents(s), manifest.SessionSide(s, feedback.Table)}
}
