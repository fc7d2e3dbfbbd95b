package filestore

import (
	"path/filepath"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/manifest"
)

// LogFiles are the files of the store in dir that grow when something is recorded in a
// session: the manifest of its events, and that of its annotations, which need not exist.
func LogFiles(dir string, s id.Session) (events, annotations string) {
	name := func(log manifest.Log) string {
		return filepath.Join(dir, filepath.FromSlash(log.Root), manifest.FileName)
	}
	return name(manifest.SessionEvents(s)), name(manifest.SessionSide(s, feedback.Table))
}
