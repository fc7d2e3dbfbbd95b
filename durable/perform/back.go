package perform

import (
	"context"
	"errors"
	"fmt"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/ports"
)

// A run that goes back continues from an earlier node of the same run, as a branch
// (docs/design.md#going-back). Nothing is recorded for going back itself: the first attempt at the
// node creates the branch.

// errWentBack reports that the person chose an earlier step: answer is the one of its node.
var errWentBack = errors.New("the person chose an earlier step")

// backStepsMax bounds the list of earlier steps that a person chooses from: about one screen.
const backStepsMax = 20

// againNote is the warning at a step that is done again.
const againNote = "This step was done before. What was recorded stays, and the run continues from here on a new branch."

// person is the Person of an execution. At each question the person can go back: then the error is
// errWentBack, or the question is asked again if no step was chosen.
type person struct {
	ports.Person
	back func(context.Context) error
}

// asked asks a question until the answer is not to go back.
func asked[T any](ctx context.Context, p person, ask func() (T, error)) (T, error) {
	for {
		answer, err := ask()
		if errors.Is(err, ports.ErrPersonBack) {
			err = p.back(ctx)
			if err == nil {
				continue
			}
		}
		return answer, err
	}
}

// Notes implements ports.Person.
func (p person) Notes(ctx context.Context, q ports.NotesQuestion) (string, error) {
	return asked(ctx, p, func() (string, error) { return p.Person.Notes(ctx, q) })
}

// Ask implements ports.Person.
func (p person) Ask(ctx context.Context, q ports.Question) (string, error) {
	return asked(ctx, p, func() (string, error) { return p.Person.Ask(ctx, q) })
}

// File implements ports.Person.
func (p person) File(ctx context.Context, q ports.FileQuestion) (advance.Artifact, error) {
	return asked(ctx, p, func() (advance.Artifact, error) { return p.Person.File(ctx, q) })
}

// Confirm implements ports.Person.
func (p person) Confirm(ctx context.Context, question string) (bool, error) {
	return asked(ctx, p, func() (bool, error) { return p.Person.Confirm(ctx, question) })
}

// canGoBack reports that a step of this run is before the pending one.
func (e *execution) canGoBack() bool {
	run := e.view.run()
	return run != nil && e.answer.NodeID != run.Root
}

// goBack asks which earlier step to do again. errWentBack reports that one was chosen; nil that the
// person stays at the pending step.
func (e *execution) goBack(ctx context.Context) error {
	steps, err := e.stepsBefore(ctx)
	if err != nil || len(steps) == 0 {
		return err
	}
	q := ports.Question{Text: "Go back: the number of the step to do again", Optional: true, NoBack: true}
	seen := map[string]int{}
	for _, a := range steps {
		// In quotes, so that a title cannot be the number of another step.
		label := fmt.Sprintf("%q", a.Pending.Title)
		if rounds := RoundsOf(e.flow, a.Pending.StepInstanceKey, a.Context()); len(rounds) > 0 {
			label += ", " + FormatRounds(rounds)
		}
		if seen[label]++; seen[label] > 1 {
			label += fmt.Sprintf(", visit %d", seen[label])
		}
		q.Choices = append(q.Choices, label)
	}
	choice, err := e.Performer.Person.Ask(ctx, q)
	if err != nil {
		return err
	}
	for i, label := range q.Choices {
		if label == choice {
			e.answer, e.branch = steps[i], steps[i].NodeID
			return errWentBack
		}
	}
	return nil
}

// stepsBefore returns the answers for the latest steps on the path to the pending one, oldest first.
func (e *execution) stepsBefore(ctx context.Context) ([]engine.Answer, error) {
	if _, err := e.view.refresh(ctx, e.Logs); err != nil {
		return nil, err
	}
	path := e.view.run().Path(e.answer.NodeID)
	path = path[:max(len(path)-1, 0)]
	var out []engine.Answer
	for _, node := range path[max(len(path)-backStepsMax, 0):] {
		at := e.view.at
		at.Node = node
		a, err := e.Engine.Rehydrate(ctx, at)
		if err != nil {
			return nil, err
		}
		if a.Pending != nil {
			out = append(out, a)
		}
	}
	return out, nil
}

// locateStart sets answer and workflow to those of Options.At, if that is another node than the
// preferred tip: the run continues there on a branch.
func (e *execution) locateStart(ctx context.Context) error {
	if err := e.locateTip(ctx); err != nil || e.opts.At.IsZero() || e.opts.At == e.answer.NodeID {
		return err
	}
	e.branch = e.opts.At
	if err := e.locateTip(ctx); err != nil {
		return err
	}
	// A checkpoint stands for the step at which it was recorded, which may be the pending one.
	e.branch = e.answer.NodeID
	if e.branch == e.view.run().Tip {
		e.branch = id.Node{}
	}
	return nil
}

// beginsBranch reports that the run continues from an earlier node, and that nothing is recorded yet
// of the branch that begins there.
func (e *execution) beginsBranch() bool {
	if e.branch.IsZero() || e.branch != e.answer.NodeID {
		return false
	}
	node := e.view.run().Node(e.branch)
	return node == nil || node.AtBranch()
}

// nodeFlags are the flags that name the pending step where it is not the one of the preferred tip.
func (e *execution) nodeFlags() []string {
	if e.branch.IsZero() {
		return nil
	}
	return []string{"--at", e.branch.String()}
}

// submitLine is the command line that submits outputs of the pending step.
func (e *execution) submitLine(more ...string) fault.Command {
	return e.SubmitLine(e.report.Run, append(e.nodeFlags(), more...)...)
}

// approveLine is the command line that approves the pending step.
func (e *execution) approveLine() fault.Command {
	return e.ApproveLine(e.report.Run, e.nodeFlags()...)
}
