package runview

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/ports"
)

// trustLines bounds the commands that are shown, about one screen; the rest is counted.
const trustLines = 20

// Trust shows the commands of a workflow and asks whether they may run: not at all, once, or
// always for this version. Every other answer and an empty line are a no; at the end of the
// input the error is ports.ErrPersonStopped. If not all commands are shown, it prints the command line
// that shows them.
func (v *View) Trust(ctx context.Context, q ports.TrustQuestion) (ports.TrustAnswer, error) {
	actions, p := catalog.Commands(q.Workflow), v.page
	p.Blank()
	// Singular and plural.
	noun, once := "a command that is not trusted yet:", "run it once"
	if len(actions) > 1 {
		noun, once = fmt.Sprintf("%d commands that are not trusted yet:", len(actions)), "run them once"
	}
	p.Block("", "", oneLine(q.Workflow.Name)+" runs "+noun, page.Plain)
	for i, a := range actions {
		// A single remaining command is shown instead of counted.
		if i == trustLines && len(actions) > trustLines+1 {
			v.mark(p.Warn("!"), fmt.Sprintf("… and %d more. Show all of them with: %s", len(actions)-i,
				v.opts.Commands))
			break
		}
		v.mark(p.Dim("$"), actionLine(a))
	}
	p.Blank()
	// The three answers and their effects; "always" is recorded in the store.
	v.mark(p.Accent("y"), once)
	v.mark(p.Accent("a"), "always allow this version of the workflow")
	v.mark(p.Accent("n"), "run nothing")
	answer, err := v.word(ctx, "Allow it?", "[y/a/N]")
	p.Blank()
	return cmp.Or(trustAnswers[answer], ports.TrustRefused), err
}

// trustAnswers are the answers that allow the commands; any other one refuses them.
var trustAnswers = map[string]ports.TrustAnswer{
	"y": ports.TrustOnce, "yes": ports.TrustOnce, "a": ports.TrustAlways, "always": ports.TrustAlways}

// actionLine returns everything that determines what a command does: its arguments, its
// directory, and its environment, which can change the effect of a harmless program. Words are
// quoted as for a shell, so that spaces in them are visible.
func actionLine(a catalog.Command) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(a.Env)) {
		words = append(words, name+"="+command.Word(a.Env[name]))
	}
	line := strings.Join(append(words, command.Line(a.Argv)), " ")
	if a.Cwd != "" {
		line += " (in " + command.Word(a.Cwd) + ")"
	}
	return line
}
