package document

import "github.com/waybill/waybill/durable/engine/commits"

// Trailer is the document "trailer": the trailer of a commit that is made now with what it names, the reason why there is
// none, or with --print-hook the text of a hook.
type Trailer struct {
	commits.Current
	Hook string `json:"hook,omitzero"`
}
