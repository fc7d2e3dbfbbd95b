package advance

import (
	"fmt"

	"github.com/waybill/waybill/durable/log/event"
)

// limit ends a run whose next step would be one more than it was started with. The step that was left stays done, and the
// next one is never taken up (docs/design.md#limits-of-a-run). Earlier versions recorded the limit and did not keep it.
func (d *attempt) limit() {
	if d.f.StepsMax == 0 || d.f.Executions < d.f.StepsMax || d.next.IsComplete() || d.a.Earlier {
		return
	}
	d.seg.engine(event.Scope{RunID: d.f.Run}, event.RunClosed{Outcome: event.OutcomeFailed, Reason: LimitText(d.f.StepsMax),
		Limit: &event.LimitReached{Kind: event.StepsLimit, Limit: d.f.StepsMax, Observed: d.f.Executions + 1}})
}

// LimitText is the reason of the end of a run at its limit. It is stored, and must not change.
func LimitText(most int64) string {
	return fmt.Sprintf("The run was started with a limit of steps, %d, and its next step would be one more.", most)
}
