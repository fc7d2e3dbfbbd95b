package redrive

import (
	"slices"

	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
)

// asRecorded returns the re-executed events without the members that earlier versions did not write: the evidence
// of a gap, and the loop of a gap or blocker. They are compared where the recorded event has them.
func asRecorded(recorded, now []event.Event) []event.Event {
	now = slices.Clone(now)
	for i := range min(len(recorded), len(now)) {
		switch is := now[i].Data.(type) {
		case event.GapRecorded:
			was, ok := recorded[i].Data.(event.GapRecorded)
			if ok && len(was.EvidenceRefs) == 0 {
				is.EvidenceRefs = nil
			}
			if ok && was.Loop == (reason.LoopFact{}) {
				is.Loop = was.Loop
			}
			now[i].Data = is
		case event.AdvanceRecorded:
			if was, ok := recorded[i].Data.(event.AdvanceRecorded); ok {
				is.Outcome.Blockers = blockersAsRecorded(was.Outcome.Blockers, is.Outcome.Blockers)
				now[i].Data = is
			}
		}
	}
	return now
}

// blockersAsRecorded is asRecorded for the blockers of an attempt.
func blockersAsRecorded(was, is *reason.Report) *reason.Report {
	if was == nil || is == nil {
		return is
	}
	out := reason.Report{Blockers: slices.Clone(is.Blockers)}
	for i := range min(len(was.Blockers), len(out.Blockers)) {
		if was.Blockers[i].Loop == (reason.LoopFact{}) {
			out.Blockers[i].Loop = was.Blockers[i].Loop
		}
	}
	return &out
}
