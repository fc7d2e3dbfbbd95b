package installable

import (
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/promptref"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// tables are compared with the published schemas.
var tables = map[string]shape.Shape{
	"template": templateShape, "variable": variableShape, "agent": agentShape, "ref": promptref.RefShape[canon.Object],
	"pack": chainPackShape(), "chain": chainShape, "node": nodeShape, "edge": edgeShape,
}

// namesIn returns the names of a schema's properties, or of the required ones, sorted.
func namesIn(schema canon.Value, part string) []string {
	of, _ := schema.Get(part)
	var out []string
	for i := range of.Len() {
		if of.Kind() == canon.Object {
			out = append(out, of.Key(i))
		} else {
			out = append(out, of.Item(i).Text())
		}
	}
	slices.Sort(out)
	return out
}

// patternsIn returns the patterns of a schema's own properties.
func patternsIn(schema canon.Value) []string {
	properties, _ := schema.Get("properties")
	var out []string
	for i := range properties.Len() {
		if pattern, ok := properties.Item(i).Get("pattern"); ok {
			out = append(out, pattern.Text())
		}
	}
	return out
}
