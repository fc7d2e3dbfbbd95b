package lists

import (
	"math"

	"github.com/waybill/waybill/durable/engine/index"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/projections/runs"
)

// encodeRow encodes a row for the index, without the ids of the run and the session, which the index has. bytes is its
// size in a page.
func encodeRow(r views.RunSummary, bytes int) string {
	var w index.Writer
	w.Int(int64(bytes))
	for _, text := range []string{r.WorkflowID, r.Source, r.Title, r.Goal, string(r.Status), r.Branch, string(r.Health)} {
		w.Text(text)
	}
	w.Bool(r.CommandFailed)
	w.Bool(r.Partial)
	w.Int(r.Progress.Completed)
	w.Int(r.Progress.Total)
	w.Count(len(r.Tips))
	for _, t := range r.Tips {
		w.Text(t.NodeID.String())
		w.Bool(t.Preferred)
	}
	w.Int(int64(r.OpenCriticalGaps))
	w.Int(r.Annotations.Count)
	w.Bool(r.Annotations.MeanRating != nil)
	if mean := r.Annotations.MeanRating; mean != nil {
		w.Int(int64(math.Float64bits(*mean)))
	}
	w.Int(r.Annotations.Flags)
	w.Bool(r.Annotations.Incomplete)
	w.Int(r.WaitUntilMs)
	w.Int(r.LastActivityEventIndex)
	w.Int(r.StartedAtMs)
	w.Int(r.LastAtMs)
	return string(w.Bytes())
}

// decodeRow decodes a row of the index.
func decodeRow(of index.Run, s id.Session) (r views.RunSummary, bytes int, ok bool) {
	in := index.NewReader(of.Row)
	r.RunID, r.SessionID = of.ID, s
	bytes = int(in.Int())
	r.WorkflowID, r.Source, r.Title, r.Goal = in.Text(), in.Text(), in.Text(), in.Text()
	r.Status, r.Branch, r.Health = runs.Status(in.Text()), in.Text(), manifest.Health(in.Text())
	r.CommandFailed, r.Partial = in.Bool(), in.Bool()
	r.Progress.Completed, r.Progress.Total = in.Int(), in.Int()
	r.Tips = make([]views.Tip, in.Count(2))
	for i := range r.Tips {
		if r.Tips[i].NodeID.UnmarshalString(in.Text()) != nil {
			return r, 0, false
		}
		r.Tips[i].Preferred = in.Bool()
	}
	r.OpenCriticalGaps, r.Annotations.Count = int(in.Int()), in.Int()
	if in.Bool() {
		mean := math.Float64frombits(uint64(in.Int()))
		r.Annotations.MeanRating = &mean
	}
	r.Annotations.Flags, r.Annotations.Incomplete = in.Int(), in.Bool()
	r.WaitUntilMs, r.LastActivityEventIndex, r.StartedAtMs, r.LastAtMs = in.Int(), in.Int(), in.Int(), in.Int()
	return r, bytes, in.Done()
}
