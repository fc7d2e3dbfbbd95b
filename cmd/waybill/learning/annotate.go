// Package learning implements the commands for feedback on runs and for
// improvements that are derived from it:
//
//   - annotate and annotations: ratings, corrections, labels and flags of runs,
//     stored in side logs
//   - proposals: workflows, prompts, automations and agent packs to review and install
//   - automations: installed schedules, and the runs that they start
//   - capabilities: the features that the store offers to other programs
//
// The package contains no rules. Package engine decides which proposal may be
// approved or applied, by which person and after how many approvals; the
// commands add the terminal at which a person confirms.
//
// Texts of annotations and proposals are untrusted input, often written by
// agents. They are cleaned before a terminal shows them, and delimited by
// <UNTRUSTED> marks in a pipe, where a program may read them.
//
// Start reading at NewAnnotate and NewProposals.
package learning

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/engine/lines"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/limits"
)

// annotateLong is what 'waybill annotate --help' prints above the usage.
const annotateLong = `Rate a run, correct it, label it or flag it for review. One annotation records one of
these signals, with an optional note. Its target is the whole run, or with --node or
--event a part of it. The run may be finished and is never changed: annotations are
stored in a log next to the log of the run, and a fork of the run does not copy them.

Nothing is overwritten. --supersedes replaces an earlier annotation by the new one, and
'waybill annotations retract' withdraws one; both stay on record. Text that looks like a
secret is removed before the annotation is stored.

--from reads an annotation as JSON instead of the flags, such as
{"target": {"nodeId": "node_…"}, "signal": {"kind": "rating", "rating": 4}, "note": "…"}.`

// annotateInput has the values of the flags of annotate. Exactly one of rating,
// correction, label and flag is given, or from, which replaces all of them.
// cobra's Changed reports whether a flag was given, since a zero value may have
// been typed.
type annotateInput struct {
	// node and event select the part of the run, as typed: an id or a prefix of
	// one. Empty for the whole run.
	node, event string
	// Exactly one of these four is the signal.
	rating     int64
	correction string
	label      string
	flag       bool
	note       string
	supersedes string
	confidence float64
	from       string
}

// NewAnnotate returns the command "annotate". It appends one annotation to the
// side log of the run's session and does not change the run itself, so that a
// finished run can be annotated too. The answer is the document "annotation"
// (docs/design.md#annotations).
func NewAnnotate(a *cli.App) *cobra.Command {
	var in annotateInput
	return cli.WithOptions(&cobra.Command{
		Use:     "annotate RUN (--rating N | --correction TEXT | --label TEXT | --flag)",
		GroupID: cli.GroupRun,
		Short:   "Rate, correct, label or flag a run or a part of it",
		Long:    annotateLong,
		Example: `  waybill annotate @last --rating 4 --note "Correct but slow"
  waybill annotate k3j2a7 --node plan --correction "Deploy to the north first"
  waybill annotate @last --label off-brand
  waybill annotate @last --from - < annotation.json`,
		Args: cli.Exactly("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			// First: what the store does not provide is refused before the request is read.
			if err := a.WithStore(cmd.Context(), func(ctx context.Context, o *cli.Store) error { return o.CheckFeedback(ctx) }); err != nil {
				return err
			}
			req, err := in.request(cmd, a)
			if err != nil {
				return err
			}
			seed, err := a.Seed()
			if err != nil {
				return err
			}
			return a.WithStore(cmd.Context(), func(ctx context.Context, o *cli.Store) error {
				return runAnnotate(ctx, a, o, seed, args[0], in, req)
			})
		},
	},
		cli.Opt(&in.rating, "rating N", "rate it with N stars, an integer from 1 (worst) to 5 (best)"),
		cli.Opt(&in.correction, "correction TEXT", "record TEXT as what the result should have been"),
		cli.Opt(&in.label, "label TEXT", "label it with TEXT, one or a few words; equal labels are counted"),
		cli.Opt(&in.flag, "flag", "flag it for review"),
		cli.Opt(&in.node, "node NODE", "annotate NODE: its id, a prefix of it, or the step that was pending there"),
		cli.Opt(&in.event, "event EVENT", "annotate EVENT: its id or a prefix of it"),
		cli.Opt(&in.note, "note TEXT", "add TEXT as a note"),
		cli.Opt(&in.supersedes, "supersedes ANNOTATION", "replace ANNOTATION, an earlier annotation of the run"),
		cli.Opt(&in.confidence, "confidence SHARE",
			"confidence of an agent: SHARE, a number from 0 to 1; refused for people"),
		cli.Opt(&in.from, "from FILE", "read the annotation as JSON from FILE; - is stdin"))
}

// request returns the annotation that the flags, or the file of --from, describe.
// It rejects what the flags alone show to be wrong, as a usage error: no signal,
// more than one signal, and --from together with flags that repeat it. The
// engine validates the values themselves.
func (in *annotateInput) request(cmd *cobra.Command, a *cli.App) (req feedback.Request, err error) {
	given := func(name string) bool { return cmd.Flags().Changed(name) }
	if given("confidence") {
		req.Confidence = &in.confidence
	}
	var signals []string
	for _, s := range []struct {
		name   string
		given  bool
		signal feedback.Signal
	}{
		{"--rating", given("rating"), feedback.Rating(in.rating)},
		{"--correction", given("correction"), feedback.Correction(in.correction)},
		{"--label", given("label"), feedback.Label(in.label)},
		{"--flag", in.flag, feedback.Flag()},
	} {
		if s.given {
			signals = append(signals, s.name)
			req.Signal = s.signal
		}
	}
	if given("from") {
		// The file contains these values; a second source would be ambiguous.
		conflicting := signals
		for _, name := range []string{"node", "event", "note"} {
			if given(name) {
				conflicting = append(conflicting, "--"+name)
			}
		}
		if len(conflicting) > 0 {
			return req, cli.UsageFault(cmd, "--from is a complete annotation, and %s %s it", page.List(conflicting, "and"),
				page.Choose(len(conflicting), "repeats", "repeat")).
				Suggest("Give the file or the flags. Only --supersedes and --confidence can be combined with --from.")
		}
		data, err := a.ReadInput("--from", in.from, limits.SourceBytesMax)
		if err != nil {
			return req, err
		}
		req.Create, err = feedback.ParseCreate(data)
		return req, err
	}
	switch len(signals) {
	case 0:
		return req, cli.UsageFault(cmd,
			"no signal is given: one of --rating, --correction, --label and --flag is required").
			Suggest("Give one of the four, such as --rating 4.")
	// Exactly one signal is valid.
	case 1:
	default:
		return req, cli.UsageFault(cmd, "%s are given together: an annotation has one signal", page.List(signals, "and")).
			Suggest("Give one, and make another call for the next.")
	}
	req.Note = in.note
	return req, nil
}

// withFlagName replaces a JSON pointer by the name of the flag that the value
// came from, in a VALIDATION_ERROR of the engine: a user who typed flags did not
// write a document. Errors about a file of --from keep their pointers.
func (in *annotateInput) withFlagName(err error) error {
	field, _ := fault.Of(err).Details["field"].(string)
	if in.from != "" || !fault.Is(err, fault.ValidationError) || field == "" {
		return err
	}
	f, flag := *fault.Of(err), "--"+field[strings.LastIndex(field, "/")+1:]
	f.Message = strings.Replace(f.Message, field, flag, 1)
	f.Suggestion = f.Suggestion.Map(func(arg any) any {
		if arg == field {
			return flag
		}
		return arg
	})
	return &f
}

// runAnnotate resolves the run and the parts of it that the flags name, records
// the annotation and prints it. Names are resolved before anything is written.
// The seed is drawn before the store is opened, since nothing can be recorded
// without entropy.
func runAnnotate(ctx context.Context, a *cli.App, o *cli.Store, seed id.Seed, ref string, in annotateInput,
	req feedback.Request) error {
	// All names are resolved first: a wrong name must not leave an annotation
	// of the whole run behind.
	at, err := o.Locate(ctx, ref)
	if err != nil {
		return err
	}
	if in.node != "" {
		if req.Target.NodeID, err = findNode(ctx, o, at.Run, in.node); err != nil {
			return err
		}
	}
	if in.event != "" {
		if req.Target.EventID, err = findEvent(ctx, o, at.Run, in.event); err != nil {
			return err
		}
	}
	if in.supersedes != "" {
		if req.SupersedesAnnotationID, err = findAnnotation(ctx, o, at.Run, in.supersedes); err != nil {
			return err
		}
	}
	recorded, err := o.Annotate(ctx, o.Caller(), seed, at, req)
	if err != nil {
		return in.withFlagName(err)
	}
	return cli.AnswerRedacted(a, "annotation", recorded, req.Redactions(), func(p *page.Page) { showRecorded(ctx, a, o, req, recorded, p) })
}

// showRecorded prints the signal that was recorded, the part of the run it is
// for, the places from which secrets were removed, and the command that retracts it. The title of a
// step is read from the store; if that fails the node is named by its id.
func showRecorded(ctx context.Context, a *cli.App, o *cli.Store, req feedback.Request, annotation feedback.Annotation,
	p *page.Page) {
	run := page.ShortRun(annotation.Target.RunID)
	what := render.TargetText(annotation.Target, "")
	if details, err := o.Run(ctx, annotation.Target.RunID.String()); err == nil &&
		annotation.Target != (feedback.RunTarget{RunID: annotation.Target.RunID}) {
		what = render.TargetText(annotation.Target, render.StepAt(details, annotation.Target.NodeID)) + " of run " + run
	} else {
		what += " " + run
	}
	p.Text(p.Good("✓ "), "Annotated "+what+": "+render.SignalText(p, annotation.Signal))
	render.Redactions(p, req.Redactions())
	p.Text("", "Retract it with '"+
		a.Command("annotations", "retract", run, render.AnnotationName(p, annotation.AnnotationID))+"'.")
}

// findNode finds a node of the run by its id, a prefix of it, or the step
// that was pending there, as 'fork --at' does. The token error of an unknown
// node becomes TARGET_NOT_FOUND, since annotate takes no token.
func findNode(ctx context.Context, o *cli.Store, run id.Run, ref string) (id.Node, error) {
	at, err := o.LocateNode(ctx, run.String(), ref)
	if fault.Is(err, fault.TokenUnknownNode) {
		f := fault.Of(err)
		err = fault.New(fault.TargetNotFound, "%s", f.Message).Suggest("%s", f.Suggestion)
	}
	return at.Node, err
}

// findEvent finds an event of the run by its id or a prefix of it. A
// complete id is not looked up: the engine rejects one that the run does not
// contain. No match is TARGET_NOT_FOUND, several are RUN_AMBIGUOUS.
func findEvent(ctx context.Context, o *cli.Store, run id.Run, ref string) (found id.Event, err error) {
	if complete, err := id.ParseEvent(ref); err == nil {
		return complete, nil // the engine checks that the run contains it
	}
	all, _, err := lines.Events(ctx, o.Reader, run.String())
	if err != nil {
		return found, err
	}
	var ids []id.Event
	for _, e := range all {
		ids = append(ids, e.ID)
	}
	return onlyMatch(ids, ref, "event", run, fault.TargetNotFound, fault.Command{"runs", "events"})
}

// hasIDPrefix reports whether an id begins with ref. The part of the id that
// names its kind, up to the underscore, may be omitted in ref. An empty ref
// matches no id, since it would match every one.
func hasIDPrefix[T interface{ String() string }](name T, ref string) bool {
	s := name.String()
	prefix, rest, _ := strings.Cut(s, "_")
	ref = strings.TrimPrefix(ref, prefix+"_")
	return ref != "" && strings.HasPrefix(rest, ref)
}

// onlyMatch returns the one of ids that begins with ref. The error is missing for none, and
// RUN_AMBIGUOUS for several. noun names what was searched for, and list the command that lists the
// ids.
func onlyMatch[T interface{ String() string }](ids []T, ref, noun string, run id.Run, missing fault.Code,
	list fault.Command) (found T, err error) {
	ref = id.Typed(ref)
	matching := slices.DeleteFunc(ids, func(name T) bool { return !hasIDPrefix(name, ref) })
	switch len(matching) {
	case 1:
		return matching[0], nil
	case 0:
		// noun is "annotation" or "event"
		if f := fault.WrongKind(missing, ref, id.Noun(ref), "an "+noun); f != nil {
			return found, f.Suggest("See %s.", append(list, run.String()))
		}
		return found, fault.New(missing, "run %s has no %s that begins with %q", run, noun, ref).
			Suggest("See %s.", append(list, run.String()))
	}
	return found, fault.New(fault.RunAmbiguous, "%d %ss of run %s begin with %q", len(matching), noun, run, ref).
		Suggest("Give a longer prefix.")
}

// findAnnotation finds an annotation of the run by its id or a prefix of it,
// superseded and retracted ones included. It reads all pages of the list, since
// annotations are sorted by time and not by id. No match is
// ANNOTATION_NOT_FOUND, several are RUN_AMBIGUOUS.
func findAnnotation(ctx context.Context, o *cli.Store, run id.Run, ref string) (found id.Annotation, err error) {
	if complete, err := id.ParseAnnotation(ref); err == nil {
		return complete, nil
	}
	var ids []id.Annotation
	for q := (learning.AnnotationQuery{History: true, Limit: limits.AnnotationsPageMax}); ; {
		page, err := o.Annotations(ctx, run.String(), q)
		if err != nil {
			return found, err
		}
		for _, annotation := range page.Annotations {
			ids = append(ids, annotation.AnnotationID)
		}
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			return onlyMatch(ids, ref, "annotation", run, fault.AnnotationNotFound,
				fault.Command{"annotations", "list", "--history"})
		}
	}
}
