package work

import (
	"context"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/infra/gitobserver"
)

// startInput is what the flags say about a run that is started.
type startInput struct {
	// key makes the start idempotent.
	key     string
	title   string
	context contextInput
	prefs   preferenceInput
}

// flags adds the flags of a start to a command.
func (in *startInput) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&in.key, "key", "", "start under `KEY`: the same key again answers what is recorded")
	f.StringVar(&in.title, "title", "", "call the run `TEXT` in lists; the workflow's name otherwise")
	in.context.flags(cmd)
	in.prefs.flags(cmd)
}

// request makes the start of the flags and the workflow, with what can be
// observed of the repository. All of it is read and checked here, before a
// store is opened.
func (in *startInput) request(ctx context.Context, a *cli.App, ref string) (engine.Start, error) {
	var out engine.Start
	if err := in.check(); err != nil {
		return out, err
	}
	// A file that cannot be read is refused before the workflow is searched for.
	given, err := in.context.read(a)
	if err != nil {
		return out, err
	}
	prefs, err := in.prefs.changes()
	if err != nil {
		return out, err
	}
	w, err := a.Workflow(ctx, ref)
	if err != nil {
		return out, err
	}
	_, root, err := a.Workspace()
	if err != nil {
		return out, err
	}
	return engine.Start{Workflow: w.Compiled, SourceKind: cli.Recorded(w.Kind), SourceRef: w.Ref, Title: in.title,
		Key:     in.key,
		Context: given, Preferences: prefs, Observations: gitobserver.Observe(root)}, nil
}

// check refuses titles and keys that are no valid UTF-8, and titles that are
// too long for a list.
func (in *startInput) check() error {
	switch {
	case !utf8.ValidString(in.title) || !utf8.ValidString(in.key):
		return fault.New(fault.ValidationError, "--title and --key must be valid UTF-8")
	case len(in.title) > limits.TitleBytesMax:
		return fault.New(fault.ValidationError, "--title: %d bytes, at most %d are allowed", len(in.title),
			limits.TitleBytesMax)
	}
	return nil
}
