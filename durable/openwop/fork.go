package openwop

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// ForkRun is the request to fork a run before one of its run events: a closed object.
type ForkRun struct {
	// FromSeq is the sequence of the first run event that is not the source's; of a replay 0 by default.
	FromSeq int64          `json:"fromSeq,omitzero"`
	Mode    event.ForkMode `json:"mode"`
	// RunOptionsOverlay is what a branch has in place of its source's; a replay has none.
	RunOptionsOverlay ForkOverlay `json:"runOptionsOverlay,omitzero"`
}

// ForkOverlay is what a branch begins with: a closed object.
type ForkOverlay struct {
	// Inputs are set in the context; an object, null without one.
	Inputs canon.Value `json:"inputs,omitzero"`
	// Configurable, Tags and Metadata take the place of those of the source.
	Configurable canon.Value `json:"configurable,omitzero"`
	Tags         []string    `json:"tags,omitzero"`
	Metadata     canon.Value `json:"metadata,omitzero"`
}

// RunForked is the answer to ForkRun.
type RunForked struct {
	RunID       string         `json:"runId"`
	SourceRunID string         `json:"sourceRunId"`
	FromSeq     int64          `json:"fromSeq"`
	Mode        event.ForkMode `json:"mode"`
	Status      Status         `json:"status"`
	EventsURL   string         `json:"eventsUrl"`
}

// forkShape is the form of a request to fork a run. Of the overlay the parts are those of a request to create one.
func forkShape() shape.Object {
	return shape.Object{What: "a request to fork a run", Fields: fields{
		{"mode", shape.Words(words(event.ForkModes())), required},
		{"fromSeq", count, optional},
		{"runOptionsOverlay", shape.Object{What: "an overlay", Fields: createFields("inputs", "configurable", "tags",
			"metadata")}, optional}}}
}

// createFields are members of a request to create a run.
func createFields(names ...string) (out fields) {
	for _, name := range names {
		for _, f := range createRunShape.Fields {
			if f.Name == name {
				out = append(out, f)
			}
		}
	}
	return out
}

// DecodeForkRun reads a request to fork a run. Errors as of DecodeCreateRun; also for a branch without a sequence, and for
// a replay with an overlay.
func DecodeForkRun(v canon.Value) (out ForkRun, err error) {
	problems := check(forkShape(), v)
	report := func(pointer, message string) {
		problems = append(problems, problem.Problem{Pointer: pointer, Severity: problem.Error, Message: message})
	}
	mode, _ := v.Get("mode")
	overlay, _ := v.Get("runOptionsOverlay")
	_, placed := v.Get("fromSeq")
	switch {
	case len(problems) > 0:
	case mode.Text() == string(event.Replay) && overlay.Len() > 0:
		report("/runOptionsOverlay", "a replay has the options and inputs of its source: send an overlay with mode branch")
	case mode.Text() == string(event.Branch) && !placed:
		report("/fromSeq", "a branch needs the sequence of the first run event that is its own")
	default:
		problems = tooLarge(overlay)
	}
	if len(problems) > 0 {
		return out, invalid(problems)
	}
	if err := canon.Decode(v, &out); err != nil {
		return out, fault.Wrap(err, fault.ValidationError, "the request does not fit: %s", err)
	}
	return out, nil
}
