package discovery

import (
	"embed"
	"io/fs"
	"path"
	"strings"

	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/source"
)

// bundledFiles are the bundled workflows: an introduction, a template to copy, and routines that
// steps of other workflows can call.
//
//go:embed bundled/*.yaml
var bundledFiles embed.FS

// bundled returns the workflow files in the binary. Each is named after its id.
func bundled() []catalog.File {
	names, _ := fs.Glob(bundledFiles, "bundled/*.yaml") // fails for an invalid pattern only
	out := make([]catalog.File, len(names))
	for i, name := range names {
		data, err := bundledFiles.ReadFile(name)
		out[i] = catalog.File{Kind: source.SourceBundled, Ref: strings.TrimSuffix(path.Base(name), ".yaml"),
			Data: data, Err: err}
	}
	return out
}
