package ports

import "context"

// SideLogs lists side logs (docs/design.md#side-logs).
type SideLogs interface {
	// SideLogs lists the names of the side logs of an owner, a session or store id, in order. A
	// side log has a manifest. Names that this version does not know are included.
	SideLogs(ctx context.Context, owner string) ([]string, error)
}
