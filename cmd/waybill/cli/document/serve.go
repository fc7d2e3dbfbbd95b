package document

import "github.com/waybill/waybill/durable/store/httpkeys"

// ServeKey is the document "serve_key": a key that was added, with its text, which no other document has.
type ServeKey struct {
	Key    string           `json:"key"`
	Name   string           `json:"name"`
	Scopes []httpkeys.Scope `json:"scopes"`
}

// ServeKeys is the document "serve_keys": the keys of programs that call the server. Confirmed is false where they are not
// the ones that a person confirmed, so that none counts.
type ServeKeys struct {
	Confirmed bool          `json:"confirmed"`
	Keys      []ServeKeyRow `json:"keys"`
}

// ServeKeyRow is one key, without anything that it could be derived from.
type ServeKeyRow struct {
	Name    string           `json:"name"`
	Scopes  []httpkeys.Scope `json:"scopes"`
	AddedMs int64            `json:"addedMs"`
}

// ServeKeysOf returns the document for a list of keys.
func ServeKeysOf(list httpkeys.List, confirmed bool) ServeKeys {
	doc := ServeKeys{Confirmed: confirmed, Keys: []ServeKeyRow{}}
	for _, k := range list.Keys {
		doc.Keys = append(doc.Keys, ServeKeyRow{Name: k.Name, Scopes: k.Scopes, AddedMs: k.AddedMs})
	}
	return doc
}
