package discovery

import (
	"embed"
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
	entries, err := bundledFiles.ReadDir("bundled")
	if err != nil {
		panic("discovery: the bundled workflows are not in the binary: " + err.Error())
	}
	var out []catalog.File
	for _, e := range entries {
		data, err := bundledFiles.ReadFile("bundled/" + e.Name())
		out = append(out, catalog.File{Kind: source.SourceBundled, Ref: strings.TrimSuffix(e.Name(), ".yaml"),
			Data: data, Err: err})
	}
	return out
}
