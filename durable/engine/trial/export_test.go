package trial

import (
	"context"

	"github.com/waybill/waybill/durable/workflow/workflowtest"
)

// RecordCase performs a case and returns the recording of its run, as 'workflows test --from-run' makes it.
func RecordCase(ctx context.Context, t Trial, c workflowtest.Case) (Recording, error) {
	p, err := t.play(ctx, c, 0)
	if err != nil {
		return Recording{}, err
	}
	return NewRecorder(p.e.Reader, p.store).Record(ctx, p.now.Session.RunID.String())
}
