package ports

import "context"

// SideLogs tells which side logs there are (R10).
type SideLogs interface {
	// SideLogs lists the names of the side logs of an owner, a session or store id, in
	// order; a side log is a folder with a manifest. Names that this version does not
	// know are among them.
	SideLogs(ctx context.Context, owner string) ([]string, error)
}
