package resume_test

import (
	"fmt"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/run/resume"
)

func ExampleMatcher() {
	m := resume.NewMatcher(resume.Query{Text: "fast search"})
	all := []resume.Ranked{
		m.Match(resume.Candidate{Session: id.NewSession(id.Seed{1}), Run: id.NewRun(id.Seed{1}),
			WorkflowID: "project.triage", LastAtMs: 2}),
		m.Match(resume.Candidate{Session: id.NewSession(id.Seed{2}), Run: id.NewRun(id.Seed{2}),
			WorkflowID: "project.release", LastAtMs: 1,
			Notes: []resume.Note{{Words: m.Words("Search is twice as fast.")}}}),
	}
	resume.Sort(all)
	for _, r := range all {
		fmt.Println(r.WorkflowID, r.Why)
	}
	// Output:
	// project.release [matched_notes]
	// project.triage [recency_fallback]
}
