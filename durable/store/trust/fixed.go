package trust

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
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

// IsZero reports that nothing is fixed.
func (f Fixed) IsZero() bool { return len(f.Env) == 0 && len(f.Pins) == 0 && len(f.Programs) == 0 }

// check returns an error for what no trust records.
func (f Fixed) check() error {
	if len(f.Env) > limits.EnvironmentMax || len(f.Pins) > filesMax || len(f.Programs) > filesMax {
		return fmt.Errorf("want at most %d variables, pins and programs", filesMax)
	}
	for name, value := range f.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") ||
			len(value) > limits.EnvironmentValueBytesMax {
			return errors.New("an environment variable is none")
		}
	}
	for name, digest := range f.Pins {
		if name == "" || len(name) > limits.PinPathBytesMax || digest.IsZero() {
			return errors.New("a pin has no path or no digest")
		}
	}
	for name, program := range f.Programs {
		if name == "" || program.Path == "" || program.SHA256.IsZero() {
			return errors.New("a program has no path or no digest")
		}
	}
	return nil
}

// filesMax bounds the pins and the programs of a workflow.
const filesMax = 4096

// Change is a difference between what was fixed and what would be now, for the person who is asked.
type Change struct {
	What     string // "environment", "pin" or "program"
	Name     string
	Old, New string // digests or values; "" for absent
}

// Changes returns the differences from old to f: pins, programs, then variables, each by name.
func (f Fixed) Changes(old Fixed) (out []Change) {
	text := func(d canon.Digest) string {
		if d.IsZero() {
			return ""
		}
		return d.String()
	}
	program := func(p Program) string { return strings.TrimSpace(p.Path + " " + text(p.SHA256)) }
	out = differences(out, "pin", old.Pins, f.Pins, text)
	out = differences(out, "program", old.Programs, f.Programs, program)
	return differences(out, "environment", old.Env, f.Env, func(v string) string { return v })
}

// differences adds the names whose values differ.
func differences[V comparable](out []Change, what string, before, after map[string]V, text func(V) string) []Change {
	names := map[string]bool{}
	for name := range before {
		names[name] = true
	}
	for name := range after {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if before[name] != after[name] {
			out = append(out, Change{what, name, text(before[name]), text(after[name])})
		}
	}
	return out
}

// Equal reports whether f and other are the same.
func (f Fixed) Equal(other Fixed) bool {
	return maps.Equal(f.Env, other.Env) && maps.Equal(f.Pins, other.Pins) && maps.Equal(f.Programs, other.Programs)
}
