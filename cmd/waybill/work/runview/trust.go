package runview

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/infra/terminal"
	"github.com/waybill/waybill/ports"
)

// trustLines is how many commands are shown before the rest is counted: about
// what fits on one screen.
const trustLines = 20

// Trust shows the commands of a workflow and asks whether they may run: not,
// once, or always for this version. An empty line, and the end of the input,
// are a no. Where not all are shown, the command line that shows all is
// printed.
func (v *View) Trust(ctx context.Context, q ports.TrustQuestion) (ports.TrustAnswer, error) {
	actions := catalog.Commands(q.Workflow)
	v.gap()
	// One command or several read differently.
	noun, once := "a command that nobody has trusted yet:", "run it this once"
	if len(actions) > 1 {
		noun, once = fmt.Sprintf("%d commands that nobody has trusted yet:", len(actions)), "run them this once"
	}
	for _, line := range v.folded(clean(q.Workflow.Name)+" runs "+noun, 0) {
		v.print(0, line)
	}
	for i, a := range actions {
		// The rest is counted, with the command that shows it.
		if i == trustLines && len(actions) > trustLines+1 {
			v.mark(v.styles.Warn("!"), fmt.Sprintf("… and %d more. See all of them: %s", len(actions)-i,
				v.opts.Commands))
			break
		}
		v.mark(v.styles.Dim("$"), actionLine(a))
	}
	v.gap()
	v.mark(v.styles.Accent("y"), once)
	v.mark(v.styles.Accent("a"), "always allow this version of the workflow")
	v.mark(v.styles.Accent("n"), "run nothing")
	v.lines.Discard()
	text, err := v.read(ctx, v.styles.Accent("?")+" "+v.styles.Bold("Allow it?")+" [y/a/N]", v.lines.Read)
	v.gap()
	// Anything that is no clear yes is a no.
	switch answer := strings.ToLower(strings.TrimSpace(text)); {
	case err != nil:
		return ports.TrustNot, err
	case yes(answer):
		return ports.TrustOnce, nil
	case answer == "a" || answer == "always":
		return ports.TrustAlways, nil
	}
	return ports.TrustNot, nil
}

// actionLine is all that decides what a command does: its words, its folder,
// and its environment, which can change what a harmless program is. Words are
// quoted as for a shell, so that blanks in them can be seen.
func actionLine(a catalog.Command) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(a.Env)) {
		words = append(words, name+"="+command.Word(a.Env[name]))
	}
	line := strings.Join(append(words, command.Line(a.Argv)), " ")
	if a.Cwd != "" {
		line += " (in " + command.Word(a.Cwd) + ")"
	}
	return terminal.Clean(line)
}
