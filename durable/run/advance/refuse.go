package advance

import (
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/run/check"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/run/decision"
	"github.com/waybill/waybill/durable/run/host"
	"github.com/waybill/waybill/durable/run/wait"
)

// RefuseObserved refuses with VALIDATION_ERROR a request that contains the result of a command, a check
// or a host step, the end of a wait or a person's decision, and names the command line for it. It is called where
// requests come in, and not by Decide: a decision that is made again takes results as they are recorded.
func (r Request) RefuseObserved(run id.Run) error {
	if r.Response != nil {
		return fault.New(fault.Invariant, "an answer to a gate that no performer hands in")
	}
	for i, a := range r.Artifacts {
		// An agent could otherwise decide about its own work.
		if a.Kind() == decision.Kind {
			return fault.New(fault.ValidationError, "artifact %d is of kind %s, which only the decision of a person writes", i,
				decision.Kind).
				Suggest("A person decides with %s at a terminal.", fault.Command{"approve", run.String()}).
				With("artifactKind", decision.Kind).With("runId", run.String())
		}
		if a.Kind() == wait.Kind {
			return fault.New(fault.ValidationError,
				"artifact %d is of kind %s, which only a performer records when the wait is over", i, wait.Kind).
				Suggest("%s continues it then; send other results without this one.",
					fault.Command{"due", "--run"}).
				With("artifactKind", wait.Kind).With("runId", run.String())
		}
		if a.Kind() == host.Kind {
			return fault.New(fault.ValidationError,
				"artifact %d is of kind %s, which only the host records when it has performed the step", i, host.Kind).
				Suggest("%s performs the step; send other results without this one.", fault.Command{"serve"}).
				With("artifactKind", host.Kind).With("runId", run.String())
		}
		if a.Kind() == check.Kind {
			return fault.New(fault.ValidationError,
				"artifact %d is of kind %s, which only Waybill records when it has performed the check", i, check.Kind).
				Suggest("Leave it out: the checks of a step run when it is handed in.").
				With("artifactKind", check.Kind).With("runId", run.String())
		}
		if a.Kind() == command.Kind {
			return fault.New(fault.ValidationError,
				"artifact %d is of kind %s, which counts only if 'waybill run' performed the command", i, command.Kind).
				Suggest("%s performs a step that is a command; send other results without this one.",
					fault.Command{"run", "--run", run.String()}).
				With("artifactKind", command.Kind).With("runId", run.String())
		}
	}
	return nil
}
