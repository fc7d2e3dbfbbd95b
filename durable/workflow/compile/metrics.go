package compile

import "github.com/waybill/waybill/durable/workflow/contract"

// The paragraphs about metrics, under the context keys that existing programs read
// (docs/design.md#authoring). They are part of workflow hashes and must not change.
const (
	metricsHeading = "## Metrics\n\n"
	metricsCommits = "After each commit, set the context key metrics_commit_shas to the list of the hashes of all commits " +
		"of this run so far, the earlier ones included: a value that is sent replaces the one before it."
	metricsEnd     = "The work ends with this step. Set these context keys with it:\n\n"
	metricsOutcome = `- metrics_outcome: how it ended, exactly one of "success", "partial", "abandoned", "error"`
	metricsPulls   = "- metrics_pr_numbers: the list of the numbers of its pull requests, [] if there are none"
	metricsChanges = "- metrics_files_changed, metrics_lines_added and metrics_lines_removed: one whole number each"
)

// metricsText is what a profile asks for in a step, and in the last step of the work; "" for nothing.
// A profile that is not listed, such as none, asks for nothing.
var metricsText = map[string]struct{ step, last string }{
	"coding": {metricsCommits,
		metricsCommits + "\n\n" + metricsEnd + metricsOutcome + "\n" + metricsPulls + "\n" + metricsChanges},
	"review":   {"", metricsEnd + metricsOutcome + "\n" + metricsPulls},
	"research": {"", metricsEnd + metricsOutcome},
	"design":   {"", metricsEnd + metricsOutcome},
	"ticket":   {"", metricsEnd + metricsOutcome},
}

// metricsOrigin is the prefix of the origin of an injected paragraph about metrics.
const metricsOrigin = "wr.metrics."

// addMetrics appends the paragraphs of a metrics profile to the prompts of the document, those of
// routines included: the profile is that of the workflow which is compiled. Commands, waits and probes
// get none, since what performs or answers them sets no metrics.
func (b *builder) addMetrics(d *Document, profile string) {
	text, ok := metricsText[profile]
	if !ok {
		return
	}
	last := d.lastWork(d.Steps)
	for _, steps := range d.sequences() {
		for i := range steps {
			s := &steps[i]
			own := text.step
			if s.StepID == last {
				own = text.last
			}
			if own == "" || !measured(*s) || !b.spend(len(own)) {
				continue
			}
			s.Injected = append(s.Injected, injection(metricsOrigin+profile, own))
			if s.Prompt != "" {
				s.Prompt += "\n\n"
			}
			s.Prompt += metricsHeading + own
		}
	}
}

// measured reports whether the performer of a step knows the work.
func measured(s Step) bool {
	return s.Type != LoopStep && !s.Automatic() && s.Probe == ""
}

// lastWork returns the id of the step with which a list of steps ends, "" if there is none: in a
// last loop, the last step of its body that does not only decide about the next iteration.
func (d *Document) lastWork(steps []Step) string {
	for i := len(steps) - 1; i >= 0; i-- {
		s := steps[i]
		decides := s.OutputContract != nil && s.OutputContract.ContractRef == contract.LoopControlRef
		switch {
		case s.Type == LoopStep:
			if id := d.lastWork(d.bodyOf(s.StepID)); id != "" {
				return id
			}
		case measured(s) && !decides:
			return s.StepID
		}
	}
	return ""
}

// sequences returns the main sequence and all bodies.
func (d *Document) sequences() [][]Step {
	out := [][]Step{d.Steps}
	for _, l := range d.Loops {
		out = append(out, l.Body)
	}
	return out
}

// bodyOf returns the body of a loop, nil for an unknown one.
func (d *Document) bodyOf(loopID string) []Step {
	l, _ := find(d.Loops, func(l Loop) bool { return l.LoopID == loopID })
	return l.Body
}
