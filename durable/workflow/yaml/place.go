package yaml

import (
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
)

// Place is where a value begins in a text, both counted from 1. Columns count characters.
type Place struct{ Line, Column int }

// Places returns the places of the values of a text that Parse accepts, by JSON pointer; of a member
// of an object it is that of its key. A text in JSON has places too, as far as it is YAML. A text that
// is not YAML has none.
func Places(data []byte) map[string]Place {
	root, err := document(string(data))
	if err != nil {
		return nil
	}
	out := map[string]Place{"": {max(root.Line, 1), max(root.Column, 1)}}
	collectPlaces(root, "", 0, out)
	return out
}

// collectPlaces adds the places below a node. The depth is that of Parse at most.
func collectPlaces(n *yaml.Node, pointer string, depth int, out map[string]Place) {
	if depth > limits.JSONDepthMax {
		return
	}
	for i, child := range n.Content {
		token, at := strconv.Itoa(i), child
		if n.Kind == yaml.MappingNode {
			if i%2 == 0 {
				continue
			}
			at = n.Content[i-1]
			token = canon.EscapePointer(at.Value)
		}
		below := pointer + "/" + token
		out[below] = Place{max(at.Line, 1), max(at.Column, 1)}
		collectPlaces(child, below, depth+1, out)
	}
}
