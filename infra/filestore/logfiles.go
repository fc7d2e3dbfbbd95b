package filestore

import (
	"path/filepath"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/manifest"
)

// LogFiles are the files of the store in dir that grow when something is recorded in a
// session: the manifest of its events, and that of its annotations, which need not exist.
func LogFiles(dir string, s id.Session) (events, annotations string) {
	return logFile(dir, manifest.SessionEvents(s)), logFile(dir, manifest.SessionSide(s, feedback.Table))
}

// ProposalsFile is the file that grows when something is recorded about a proposal.
func ProposalsFile(dir string) string { return logFile(dir, proposal.LogOf(id.Store{})) }

// logFile is the manifest of a log.
func logFile(dir string, log manifest.Log) string {
	return filepath.Join(dir, filepath.FromSlash(log.Root), manifest.FileName)
}
