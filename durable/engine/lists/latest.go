package lists

import (
	"context"

	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/sorting"
)

// LatestRuns returns runs of sessions in the order of Runs, for a list that is a hint, such as shell
// completion. It reads the sessions in their order until it has most runs that wanted accepts, or until ctx is
// done, and returns all that it read. Sessions that cannot be read are left out, and annotations are not counted.
func LatestRuns(ctx context.Context, o *Lists, sessions []id.Session, most int,
	wanted func(views.RunSummary) bool) []views.RunSummary {
	var out []views.RunSummary
	for _, s := range sessions {
		if most <= 0 || ctx.Err() != nil {
			break
		}
		fold, v, err := o.r.ReadWindowed(ctx, s)
		if err != nil || v.Unborn() {
			continue
		}
		for _, runID := range fold.Order {
			row, err := o.views.SummaryOf(ctx, s, fold.Runs[runID], v.Health)
			if err != nil {
				continue
			}
			if wanted(row) {
				most--
			}
			out = append(out, row)
		}
	}
	sorting.Stable(out, latestFirst)
	return out
}
