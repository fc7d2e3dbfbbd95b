package upkeep

import (
	"context"

	"github.com/waybill/waybill/durable/log/idempotency"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/retention"
	"github.com/waybill/waybill/ports"
)

// planLogs adds the log of answers to idempotency keys to the plan, if it has any and all of them are too old
// (docs/design.md#idempotency-keys). A chain cannot lose its beginning, so the log is removed as a whole or not at all.
func (c *cleanup) planLogs(ctx context.Context, nowMs int64, weights map[string]int64) error {
	store, err := c.u.store.StoreID(ctx, ports.ReadOnly)
	if err != nil || store.IsZero() {
		return err
	}
	log := idempotency.LogOf(store)
	count := true // something in it counts
	v, err := c.u.store.Read(ctx, ports.ReadRequest{Log: log}, func(manifest.Head) ports.Visitor {
		count = false
		return ports.VisitorFunc(func(seg manifest.Segment, _ manifest.Head) error {
			for _, e := range seg.Events {
				r, known := e.Data.(idempotency.ResponseRecorded)
				count = count || !known || e.Foreign() || !idempotency.IsExpired(r.AtMs, nowMs)
			}
			return nil
		})
	})
	if err == nil && !count && v.Health == manifest.Healthy && v.Head.Next > 0 {
		c.report.Logs = append(c.report.Logs, GCLog{Path: log.Root, Reason: retention.Expired, Events: v.Head.Next,
			Bytes: weights[log.Root], log: log, head: v.Head})
	}
	return err
}

// removeLogs removes the logs of the plan to which nothing was appended since.
func (c *cleanup) removeLogs(ctx context.Context, plan GCReport, b ports.Sweeper) error {
	for _, l := range plan.Logs {
		gone, err := b.RemoveLog(ctx, l.log, l.head)
		if err != nil {
			return err
		}
		if gone {
			c.report.Logs = append(c.report.Logs, l)
		} else {
			c.report.Skipped = append(c.report.Skipped, GCSkipped{l.Path, "a process uses it, or it has unexpected files"})
		}
	}
	return nil
}
