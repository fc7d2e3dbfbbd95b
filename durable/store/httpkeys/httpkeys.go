// Package httpkeys is the list of keys with which programs call 'waybill serve' (docs/design.md#openwop-keys): the data of
// the control file keys/http.json. A key itself is shown once to the person who adds it; its SHA-256 is kept.
//
// It reads and writes no file.
package httpkeys

import "github.com/waybill/waybill/durable/canon"

// Scope is a permission of a key, a closed set.
type Scope string

// The scopes.
const (
	ManifestRead     Scope = "manifest:read"
	RunsCreate       Scope = "runs:create"
	RunsRead         Scope = "runs:read"
	RunsCancel       Scope = "runs:cancel"
	FeedbackWrite    Scope = "feedback:write"
	ProposalsAuthor  Scope = "proposals:author"
	PacksPublish     Scope = "packs:publish"
	ApprovalsRespond Scope = "approvals:respond"
)

// Key is one key.
type Key struct {
	Name    string       `json:"name"`
	SHA256  canon.Digest `json:"sha256"` // of the key's text
	Scopes  []Scope      `json:"scopes"`
	AddedMs int64        `json:"addedMs"`
}
