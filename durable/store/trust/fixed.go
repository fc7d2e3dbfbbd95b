package trust

import (
	"maps"

	"github.com/waybill/waybill/durable/canon"
)

// Fixed is what the checks of a workflow depend on beside the workflow, as it was when a person
// trusted it (docs/design.md#checks). The zero Fixed is that of a workflow without checks.
type Fixed struct {
	// Env is the environment of the checks: the variables of the person's environment that programs
	// need, and none that changes what they do.
	Env map[string]string `json:"env,omitzero"`
	// Pins are the SHA-256 digests of the pinned files, by path below the root of the project.
	Pins map[string]canon.Digest `json:"pins,omitzero"`
	// Programs are the programs of the checks, by source.Check.Program.
	Programs map[string]Program `json:"programs,omitzero"`
}

// Program is an executable file.
type Program struct {
	Path   string       `json:"path"` // absolute
	SHA256 canon.Digest `json:"sha256"`
}

// Equal reports whether f and other are the same.
func (f Fixed) Equal(other Fixed) bool {
	return maps.Equal(f.Env, other.Env) && maps.Equal(f.Pins, other.Pins) && maps.Equal(f.Programs, other.Programs)
}
