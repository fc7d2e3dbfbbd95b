package ports

import (
	"context"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Inspector examines a store as a whole, for verification.
type Inspector interface {
	// Inspect reports problems of a store outside of its logs: damaged control files,
	// objects whose digest does not match their name, and what else a store can have of that kind, such as wrong
	// permissions and unknown files. The paths of findings are places (see Retention). A store that does
	// not exist has no findings.
	Inspect(ctx context.Context) ([]manifest.Finding, error)

	// InspectSession is Inspect for what belongs to one session.
	InspectSession(ctx context.Context, s id.Session) ([]manifest.Finding, error)

	// WithoutChanges calls do while no process writes to a log, moves it, or moves a log to its place:
	// what looked damaged is read again in do (docs/design.md#reading). Errors are those of do and of
	// a busy lock.
	WithoutChanges(ctx context.Context, log manifest.Log, do func() error) error
}
