package work

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/warning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/infra/gitobserver"
)

// startInput holds the flags for the start of a run.
type startInput struct {
	// key makes the start idempotent; "" for none.
	key     string
	title   string
	goal    string
	tags    string
	context contextInput
	// autonomy and risk policy; unset ones have their defaults
	prefs preferenceInput
	// named are the warnings about how the workflow is named, set by request. They are not stored.
	named []warning.Warning
}

// flags adds the flags of a start to a command.
func (in *startInput) flags(cmd *cobra.Command) {
	cli.WithOptions(cmd,
		cli.Opt(&in.key, "key KEY", "make the start idempotent: the same KEY returns the recorded run"),
		cli.Opt(&in.title, "title TEXT", "title of the run in lists: TEXT (default: the workflow's name)"),
		cli.Opt(&in.goal, "goal TEXT", "what the run is for: TEXT, at most 1024 bytes; names a run without title"),
		cli.Opt(&in.tags, "tags TAGS", "tags of the run, separated by commas, by which 'waybill work' takes it"))
	in.context.flags(cmd)
	in.prefs.flags(cmd)
}

// isControl reports a line break or another control character.
func isControl(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

// request returns the start for the flags and the workflow ref, with observations of the
// repository (docs/design.md#observations). All input is read and checked here, before a store
// is opened. Errors: USAGE_ERROR, VALIDATION_ERROR, WORKFLOW_NOT_FOUND, WORKFLOW_INVALID.
func (in *startInput) request(ctx context.Context, a *cli.App, ref string) (engine.Start, error) {
	var out engine.Start
	switch {
	case strings.ContainsFunc(in.key, isControl):
		return out, fault.New(fault.UsageError, "--key has a line break or another control character: %q", in.key).
			Suggest("Give it on one line: a copy of it from a list has to be the same key.")
	case !utf8.ValidString(in.title) || !utf8.ValidString(in.goal) || !utf8.ValidString(in.key):
		return out, fault.New(fault.ValidationError, "--title, --goal and --key must be valid UTF-8")
	case len(in.title) > limits.TitleBytesMax:
		return out, fault.New(fault.ValidationError, "--title: %d bytes, at most %d are allowed", len(in.title),
			limits.TitleBytesMax)
	case len(in.goal) > limits.GoalBytesMax:
		return out, fault.New(fault.ValidationError, "--goal: %d bytes, at most %d are allowed", len(in.goal),
			limits.GoalBytesMax)
	}
	tags, err := advance.ParseTags(in.tags)
	if err != nil {
		return out, err
	}
	// A file that cannot be read is rejected before the workflow is looked up.
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
	in.named = warning.OfIDs(w)
	// root is "" outside of a repository; then there are no observations.
	_, root, err := a.Workspace()
	if err != nil {
		return out, err
	}
	return engine.Start{Workflow: w.Compiled, SourceKind: cli.RecordedSourceKind(w.Kind), SourceRef: w.Ref,
		Title:   in.title,
		Goal:    in.goal,
		Tags:    tags,
		Key:     in.key,
		Context: given, Preferences: prefs, Observations: gitobserver.Observe(root)}, nil
}
