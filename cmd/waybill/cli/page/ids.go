package page

import (
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
)

// ShortRunLen is the number of characters of a short id. Eight characters are almost always
// unique among a million runs; for an ambiguous one, commands require a longer prefix.
const ShortRunLen = 8

// Name returns how a row of a table names a thing: on a terminal by the short form of its id, which
// commands accept, elsewhere by the complete one, since programs need one that stays unique.
func (p *Page) Name(short, complete string) string {
	if p.Width > 0 {
		return short
	}
	return complete
}

// ShortRun returns the first characters of a run id after its prefix "run_". All commands that
// take a run accept it.
//
//go:noinline
func ShortRun(r id.Run) string { return ShortID(r) }

// ShortNode returns the first characters of a node id after its prefix "node_". --at accepts
// it.
func ShortNode(n id.Node) string { return ShortID(n) }

// ShortProposal returns the first characters of a proposal id after its prefix.
func ShortProposal(p id.Proposal) string { return ShortID(p) }

// ShortID returns the first characters of any id after the prefix that names its kind.
func ShortID[T interface{ String() string }](name T) string {
	_, rest, _ := strings.Cut(name.String(), "_")
	return rest[:min(len(rest), ShortRunLen)]
}

// ShortDigest returns the first 12 hex digits of a digest with the prefix "sha256:", for
// comparison by a person. No command accepts it as an argument.
func ShortDigest(d canon.Digest) string {
	s := d.String()
	return s[:min(len(s), len("sha256:")+12)]
}
