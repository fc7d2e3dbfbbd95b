package openwop

import (
	"cmp"

	"github.com/waybill/waybill/durable/canon"
)

// Chunks returns the payloads of MessageChunk for an event CompletionReturned, nil for any other: a chunk for each part of
// the text, in its order, of which the last has what is known about the whole. A text without parts has one empty chunk.
func Chunks(e RunEvent) []canon.Value {
	if e.Type != CompletionReturned {
		return nil
	}
	parts, _ := e.Payload.Get("chunks")
	meta, _ := e.Payload.Get("meta")
	out := make([]canon.Value, max(parts.Len(), 1))
	for i := range out {
		chunk := ""
		if i < parts.Len() {
			chunk = parts.Item(i).Text()
		}
		last := i == len(out)-1
		members := []canon.Member{{Name: "chunk", Value: canon.OfString(chunk)}, {Name: "isLast", Value: canon.OfBool(last)},
			{Name: "nodeId", Value: canon.OfString(cmp.Or(e.NodeID, "node"))}, {Name: "runId", Value: canon.OfString(e.RunID)}}
		if last && meta.Kind() == canon.Object {
			members = append(members, canon.Member{Name: "meta", Value: meta})
		}
		out[i] = canon.OfMembers(members...)
	}
	return out
}
