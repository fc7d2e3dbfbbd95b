package filestore

import (
	"path/filepath"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/manifest"
)

// LogFiles are the files of the store in dir that grow when something is recorded in a
// session, and those that notifications come from: the manifests of its events, of its
// annotations and of the store's proposals. The latter two need not exist.
func LogFiles(dir string, s id.Session) (events, annotations, proposals string) {
	name := func(log manifest.Log) string {
		return filepath.Join(dir, filepath.FromSlash(log.Root), manifest.FileName)
	}
	return name(manifest.SessionEvents(s)), name(manifest.SessionSide(s, feedback.Table)),
		name(proposal.LogOf(id.Store{}))
}
