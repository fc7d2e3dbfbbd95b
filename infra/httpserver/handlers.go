package httpserver

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/invisible"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/openwop"
)

// getCapabilities answers with what the host reports, and the limit of bodies that this server enforces.
func getCapabilities(c *call) (reply, error) {
	doc, err := c.host.Discovery(c.r.Context())
	if err != nil {
		return reply{}, err
	}
	doc = withBodyLimit(doc)
	if nested, ok := doc.Get("capabilities"); ok {
		doc = doc.With("capabilities", withBodyLimit(nested))
	}
	c.sendPublic(invisible.EscapeJSON(doc.JCS()))
	return reply{}, nil
}

// withBodyLimit sets the member of limits that this server enforces.
func withBodyLimit(doc canon.Value) canon.Value {
	l, _ := doc.Get("limits")
	return doc.With("limits", l.With("maxRequestBodyBytes", canon.OfInt(limits.HTTPBodyBytesMax)))
}

func getOpenAPI(c *call) (reply, error) {
	body, err := c.openAPI()
	if err != nil {
		return reply{}, fault.Wrap(err, fault.Internal, "the description of the routes cannot be written")
	}
	c.sendPublic(body)
	return reply{}, nil
}

func getWorkflow(c *call) (reply, error) {
	id, ok := pathValue(c.r, "workflowId")
	if !ok {
		return reply{}, fault.New(fault.WorkflowNotFound, "no workflow has this id")
	}
	doc, err := c.host.Workflow(c.r.Context(), id)
	return reply{status: http.StatusOK, doc: doc}, err
}

// run returns the id of the run in the path.
func (c *call) run() (string, error) {
	id, ok := pathValue(c.r, "runId")
	if !ok {
		return "", fault.New(fault.RunNotFound, "no run has this id")
	}
	return id, nil
}

func createRun(c *call) (reply, error) {
	in, err := openwop.DecodeCreateRun(c.body)
	if err != nil {
		return reply{}, err
	}
	key, err := c.idempotencyKey()
	if err != nil {
		return reply{}, err
	}
	if in, err = c.forced(in); err != nil {
		return reply{}, err
	}
	out, replayed, err := c.host.CreateRun(c.r.Context(), c.by(), key, in)
	if err != nil {
		return reply{}, err
	}
	out.StatusURL = "http://" + c.r.Host + "/v1/runs/" + out.RunID
	out.EventsURL = out.StatusURL + "/events"
	header := map[string]string{}
	if key != "" {
		header[replayHeader] = fmt.Sprint(replayed)
	}
	return reply{http.StatusCreated, out, header}, nil
}

func getRun(c *call) (reply, error) {
	id, err := c.run()
	if err != nil {
		return reply{}, err
	}
	out, err := c.host.Snapshot(c.r.Context(), id)
	if err == nil {
		out, err = c.withCallback(out)
	}
	return reply{status: http.StatusOK, doc: out}, err
}

func cancelRun(c *call) (reply, error) {
	var in reasonBody
	id, err := c.run()
	if err == nil {
		err = c.decode(&in)
	}
	if err != nil {
		return reply{}, err
	}
	out, err := c.host.Cancel(c.r.Context(), c.by(), id, in.Reason)
	return reply{status: http.StatusOK, doc: out}, err
}

// bulkCancelRuns cancels several runs, each by itself: one that fails does not stop the others. A run that is named
// twice is cancelled once and has two results.
func bulkCancelRuns(c *call) (reply, error) {
	var in bulkCancel
	if err := c.decode(&in); err != nil {
		return reply{}, err
	}
	if n := len(in.RunIDs); n == 0 || n > limits.HTTPCancelRunsMax {
		return reply{}, invalid(fmt.Sprintf("runIds has 1 to %d ids", limits.HTTPCancelRunsMax)).
			with("pointer", "/runIds").with("maxRunIds", limits.HTTPCancelRunsMax)
	}
	ids := slices.Compact(slices.Sorted(slices.Values(in.RunIDs)))
	results := make([]cancelResult, len(ids))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(limits.HTTPCancelsMax, len(ids)) {
		workers.Go(func() {
			for i := range next {
				results[i] = c.cancelOne(ids[i], in.Reason)
			}
		})
	}
	for i := range ids {
		next <- i
	}
	close(next)
	workers.Wait()
	out := bulkCancelled{}
	for _, id := range in.RunIDs {
		i, _ := slices.BinarySearch(ids, id)
		out.Results = append(out.Results, results[i])
	}
	return reply{status: http.StatusOK, doc: out}, nil
}

func (c *call) cancelOne(id, reason string) cancelResult {
	var state openwop.RunState
	err := error(fault.New(fault.RunNotFound, "no run has this id"))
	if isID(id) {
		state, err = c.host.Cancel(c.r.Context(), c.by(), id, reason)
	}
	if err == nil {
		return cancelResult{RunID: id, OK: true, Status: state.Status}
	}
	_, e, _ := answerOf(err)
	if e.Error == openwop.ErrRunNotFound {
		e.Error = openwop.ErrNotFound
	}
	return cancelResult{RunID: id, Error: &cancelError{e.Error, e.Message}}
}

func createAnnotation(c *call) (reply, error) {
	id, err := c.run()
	if err == nil && c.raw == nil {
		err = invalid("a body is required")
	}
	if err != nil {
		return reply{}, err
	}
	key, err := c.idempotencyKey()
	if err != nil {
		return reply{}, err
	}
	out, err := c.host.Annotate(c.r.Context(), c.by(), key, id, c.body)
	return reply{status: http.StatusCreated, doc: out}, placed(err)
}

// placed makes the error of a strict reader of a part of the body a refusal of the body.
func placed(err error) error {
	var bad *canon.ParseError
	if errors.As(err, &bad) && fault.CodeOf(err) == fault.Internal {
		return malformedBody(bad)
	}
	return err
}

func listAnnotations(c *call) (reply, error) {
	id, err := c.run()
	if err != nil {
		return reply{}, err
	}
	all, err := c.host.Annotations(c.r.Context(), id)
	return reply{status: http.StatusOK, doc: map[string][]canon.Value{"annotations": all}}, err
}
