package render

import (
	"slices"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/canon"
)

// Members writes every value of a document with its path, one a line, but for members of these names.
// It is for facts that a text leaves out and a person may need.
func Members(p *page.Page, data any, without ...string) {
	v, err := canon.ValueOf(data)
	if err != nil {
		return // it cannot be printed as JSON either
	}
	var walk func(path string, v canon.Value)
	walk = func(path string, v canon.Value) {
		switch v.Kind() {
		case canon.Object:
			for i := range v.Len() {
				if !slices.Contains(without, v.Key(i)) {
					walk(path+"."+page.OneLine(v.Key(i)), v.Item(i))
				}
			}
		case canon.Array:
			for i := range v.Len() {
				walk(path+"["+page.Itoa(i)+"]", v.Item(i))
			}
		case canon.String:
			p.Text("  "+path[1:]+": ", v.Text())
		default:
			p.Text("  "+path[1:]+": ", string(v.JCS()))
		}
	}
	walk("", v)
}
