package ports

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Pins reads the files that checks depend on, below the root of one project
// (docs/design.md#checks). No path leads through a symbolic link, and only regular files are read.
type Pins interface {
	// Fix returns the pins, the programs and the environment of checks as they are now. The error
	// names the check and the file: VALIDATION_ERROR for one that is missing, no regular file, behind
	// a link, or too large.
	Fix(ctx context.Context, checks []source.Check) (trust.Fixed, error)
	// Compare returns how the pins and the program of a check are now.
	Compare(ctx context.Context, c source.Check, fixed trust.Fixed) (PinState, error)
	// Place returns where the checks run.
	Place(ctx context.Context) Place
}

// PinState is how the pins and the program of a check are at one moment.
type PinState struct {
	Pins map[string]canon.Digest // of the pins that are readable
	// Changed are the names of the pins and of the program that differ from what was fixed, are missing
	// or cannot be read, sorted.
	Changed []string
	// Versions are, by name, texts that differ where the system has recorded a change of the file
	// between two moments, also one that was undone. Where the system records none it has no names.
	Versions map[string]string
}

// Since returns the names that are changed, or were between an earlier moment and this one, sorted.
func (s PinState) Since(earlier PinState) []string {
	out := slices.Clone(s.Changed)
	for name, version := range s.Versions {
		if earlier.Versions[name] != version {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Place is the project in which checks run, as far as it may be recorded.
type Place struct {
	Root    canon.Digest // of the path of its root, as the observation repo_root_hash has it
	GitHead string       // the commit that is checked out; "" outside of a git repository, and before the first one
}
