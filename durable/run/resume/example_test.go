package resume_test

import (
	"fmt"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/run/resume"
)

func ExampleRank() {
	all := []resume.Candidate{
		{Session: id.NewSession(id.Seed{1}), Run: id.NewRun(id.Seed{1}), WorkflowID: "project.release",
			Notes: "Search is twice as fast.", LastAtMs: 1},
		{Session: id.NewSession(id.Seed{2}), Run: id.NewRun(id.Seed{2}), WorkflowID: "project.triage", LastAtMs: 2},
	}
	for _, r := range resume.Rank(resume.Query{Text: "fast search"}, all) {
		fmt.Println(r.WorkflowID, r.Why)
	}
	// Output:
	// project.release [matched_notes]
	// project.triage [recency_fallback]
}
