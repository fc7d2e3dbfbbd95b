package discovery

import (
	"embed"
	"strings"

	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/source"
)

// The bundled workflows: one to try Waybill with, one to copy from, and routines that
// a step of another workflow can call.
//
//go:embed bundled/*.yaml
var bundledFiles embed.FS

// bundled gives the files inside the binary. Each is named after its id.
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
