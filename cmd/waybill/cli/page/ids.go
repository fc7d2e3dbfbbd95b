package page

import (
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
)

// ShortRunLen is how many letters of an id are shown to people. Eight letters
// are unique among a million runs often enough; where they are not, the command
// asks for a longer prefix.
const ShortRunLen = 8

// ShortRun is the beginning of a run's id without its prefix. All commands that
// take a run accept it.
func ShortRun(r id.Run) string {
	s := strings.TrimPrefix(r.String(), "run_")
	return s[:min(len(s), ShortRunLen)]
}

// ShortNode is the beginning of a node's id without its prefix, as --at accepts
// it.
func ShortNode(n id.Node) string {
	s := strings.TrimPrefix(n.String(), "node_")
	return s[:min(len(s), ShortRunLen)]
}

// ShortProposal is the beginning of a proposal's id without its prefix.
func ShortProposal(p id.Proposal) string {
	_, name, _ := strings.Cut(p.String(), "_")
	return name[:min(len(name), 8)]
}

// ShortID is the beginning of any id, without the prefix that names its kind.
func ShortID[T interface{ String() string }](name T) string {
	_, rest, _ := strings.Cut(name.String(), "_")
	return rest[:min(len(rest), ShortRunLen)]
}

// ShortDigest is the beginning of a digest, for comparing by eye; it is not
// accepted as an argument.
func ShortDigest(d canon.Digest) string {
	s := d.String()
	return s[:min(len(s), len("sha256:")+12)]
}
