// Package learning holds the commands about what is learned from runs: annotations,
// proposals, automations, and what a store provides of these to others. It decides
// nothing: which proposal may be approved or applied is a rule of the engine.
package learning

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/limits"
)

const annotateLong = `Say what you think of a run: rate it, correct it, label it or flag it for somebody to look
at. One annotation says one of these, with a note if you like. It is about the whole run,
or with --node or --event about a part of it. The run may be over, and is not touched:
annotations stand beside it, and a fork of the run does not take them along.

Nothing is ever overwritten. --supersedes puts a new annotation in the place of an earlier
one, and 'waybill annotations retract' takes one back; both stay on record. What looks like
a secret is taken out of what you say before it is stored.

--from takes the JSON of an annotation in place of the flags, such as
{"target": {"nodeId": "node_…"}, "signal": {"kind": "rating", "rating": 4}, "note": "…"}.`

// annotateInput is what the flags of annotate say.
type annotateInput struct {
	node, event string
	rating      int64
	correction  string
	label       string
	flag        bool
	note        string
	supersedes  string
	confidence  float64
	from        string
}

func NewAnnotate(a *cli.App) *cobra.Command {
	var in annotateInput
	cmd := &cobra.Command{
		Use:     "annotate RUN (--rating N | --correction TEXT | --label TEXT | --flag)",
		GroupID: cli.GroupWork,
		Short:   "Rate, correct, label or flag a run or a part of it",
		Long:    annotateLong,
		Example: `  waybill annotate @last --rating 4 --note "Right, and slow"
  waybill annotate k3j2a7 --node plan --correction "Deploy to the north first"
  waybill annotate @last --label off-brand
  waybill annotate @last --from - < annotation.json`,
		Args: cli.Exactly("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			req, err := in.request(cmd, a)
			if err != nil {
				return err
			}
			return runAnnotate(cmd.Context(), a, args[0], in, req)
		},
	}
	f := cmd.Flags()
	f.Int64Var(&in.rating, "rating", 0, "rate it with `N` stars, a whole number from 1, bad, to 5, good")
	f.StringVar(&in.correction, "correction", "", "say that `TEXT` should stand in the place of what stands there")
	f.StringVar(&in.label, "label", "", "label it with `TEXT`, a word or a few that are counted")
	f.BoolVar(&in.flag, "flag", false, "flag it for somebody to look at")
	f.StringVar(&in.node, "node", "",
		"it is about `NODE`: its id, the beginning of it, or the step that was pending there")
	f.StringVar(&in.event, "event", "", "it is about `EVENT`: its id, or the beginning of it")
	f.StringVar(&in.note, "note", "", "add `TEXT`")
	f.StringVar(&in.supersedes, "supersedes", "", "put it in the place of `ANNOTATION`, an earlier one of the run")
	f.Float64Var(&in.confidence, "confidence", 0,
		"how sure an agent is: `SHARE`, a number from 0 to 1; people give none")
	f.StringVar(&in.from, "from", "", "take what is said from the JSON in `FILE`; - is stdin")
	return cmd
}

// request is what the flags say, or the file in their place.
func (in *annotateInput) request(cmd *cobra.Command, a *cli.App) (req feedback.Request, err error) {
	given := func(name string) bool { return cmd.Flags().Changed(name) }
	if given("confidence") {
		req.Confidence = &in.confidence
	}
	if given("supersedes") && in.supersedes == "" {
		return req, cli.UsageFault(cmd, "--supersedes is given and empty").
			Suggest("Name an annotation of the run. Is a variable not set?")
	}
	var said []string
	for _, name := range []string{"rating", "correction", "label", "flag"} {
		if given(name) && (name != "flag" || in.flag) {
			said = append(said, "--"+name)
		}
	}
	if given("from") {
		beside := said
		for _, name := range []string{"node", "event", "note"} {
			if given(name) {
				beside = append(beside, "--"+name)
			}
		}
		if len(beside) > 0 {
			return req, cli.UsageFault(cmd, "--from says it all, and %s beside it %s", page.List(beside),
				page.Plurally(len(beside), "says it again", "say it again")).
				Suggest("Give the file or the flags. --supersedes and --confidence alone may stand beside --from.")
		}
		data, err := a.ReadInput("--from", in.from, limits.SourceBytesMax)
		if err != nil {
			return req, err
		}
		req.Create, err = feedback.ParseCreate(data)
		return req, err
	}
	for _, name := range []string{"node", "event"} {
		if given(name) && cmd.Flag(name).Value.String() == "" {
			return req, cli.UsageFault(cmd, "--%s is given and empty", name).
				Suggest("Name a part of the run, or leave --%s out for the whole run. Is a variable not set?", name)
		}
	}
	switch len(said) {
	case 0:
		return req, cli.UsageFault(cmd,
			"nothing is said of the run: --rating, --correction, --label and --flag are missing").
			Suggest("Give one of the four, such as --rating 4.")
	case 1:
	default:
		return req, cli.UsageFault(cmd, "%s are given together: one annotation says one thing", page.List(said)).
			Suggest("Give one, and make another call for the next.")
	}
	req.Note, req.Signal = in.note, in.signal(said[0])
	return req, nil
}

func (in *annotateInput) signal(flag string) feedback.Signal {
	switch flag {
	case "--rating":
		return feedback.Rating(in.rating)
	case "--correction":
		return feedback.Correction(in.correction)
	case "--label":
		return feedback.Label(in.label)
	}
	return feedback.Flag()
}

// byFlag is a refusal of what was said, with the flag that said it where there was one: who
// typed flags knows nothing of the places in a document.
func (in *annotateInput) byFlag(err error) error {
	field, _ := fault.Of(err).Details["field"].(string)
	if in.from != "" || !fault.Is(err, fault.ValidationError) || field == "" {
		return err
	}
	f, flag := *fault.Of(err), "--"+field[strings.LastIndex(field, "/")+1:]
	f.Message, f.Suggestion = strings.Replace(f.Message, field, flag, 1), strings.Replace(f.Suggestion, field, flag, 1)
	return &f
}

func runAnnotate(ctx context.Context, a *cli.App, ref string, in annotateInput, req feedback.Request) error {
	seed, err := a.Seed()
	if err != nil {
		return err
	}
	o, err := a.Open(ctx)
	if err != nil {
		return err
	}
	defer o.Close()
	at, err := o.Locate(ctx, ref)
	if err != nil {
		return err
	}
	if in.node != "" {
		if req.Target.NodeID, err = annotatedNode(ctx, o, at.Run, in.node); err != nil {
			return err
		}
	}
	if in.event != "" {
		if req.Target.EventID, err = annotatedEvent(ctx, o, at.Run, in.event); err != nil {
			return err
		}
	}
	if in.supersedes != "" {
		if req.SupersedesAnnotationID, err = annotationOf(ctx, o, at.Run, in.supersedes); err != nil {
			return err
		}
	}
	said, err := o.Annotate(ctx, a.Caller(), seed, at, req)
	if err != nil {
		return in.byFlag(err)
	}
	return a.Answer("annotation", said, func(p *page.Page) { showAnnotated(ctx, a, o, req, said, p) })
}

// showAnnotated says what was recorded about what, and how it is taken back.
func showAnnotated(ctx context.Context, a *cli.App, o *cli.Store, req feedback.Request, said feedback.Annotation,
	p *page.Page) {
	run := page.ShortRun(said.Target.RunID)
	what := render.AboutWords(said.Target, "")
	if details, err := o.Run(ctx, said.Target.RunID.String()); err == nil &&
		said.Target != (feedback.RunTarget{RunID: said.Target.RunID}) {
		what = render.AboutWords(said.Target, render.StepAt(details, said.Target.NodeID)) + " of run " + run
	} else {
		what += " " + run
	}
	p.Text(p.Good("✓ "), "Annotated "+what+": "+render.SignalWords(p, said.Signal))
	if said.Note != req.Note || said.Signal != req.Signal {
		p.Text(p.Warn("! "), "What looks like a secret was taken out of what you said.")
	}
	p.Text("", "Take it back with '"+
		a.Command("annotations", "retract", run, render.AnnotationName(p, said.AnnotationID))+"'.")
}

// annotatedNode finds a node as 'fork --at' does.
func annotatedNode(ctx context.Context, o *cli.Store, run id.Run, ref string) (id.Node, error) {
	at, err := o.LocateNode(ctx, run.String(), ref)
	if fault.Is(err, fault.TokenUnknownNode) {
		f := fault.Of(err)
		err = fault.New(fault.TargetNotFound, "%s", f.Message).Suggest("%s", f.Suggestion)
	}
	return at.Node, err
}

// annotatedEvent finds an event of the run by its id or the beginning of it.
func annotatedEvent(ctx context.Context, o *cli.Store, run id.Run, ref string) (found id.Event, err error) {
	if whole, err := id.ParseEvent(ref); err == nil {
		return whole, nil // whether the run has it is for the engine to say
	}
	all, _, err := o.Events(ctx, run.String())
	if err != nil {
		return found, err
	}
	n := 0
	for _, e := range all {
		if begins(e.ID, ref) {
			found = e.ID
			n++
		}
	}
	return found, one(n, ref, "event", run, fault.TargetNotFound, "runs events")
}

// begins reports an id that begins so, with or without its prefix.
func begins[T interface{ String() string }](name T, ref string) bool {
	s := name.String()
	prefix, rest, _ := strings.Cut(s, "_")
	ref = strings.TrimPrefix(ref, prefix+"_")
	return ref != "" && strings.HasPrefix(rest, ref)
}

// one refuses a beginning that is none's or that of several.
func one(n int, ref, thing string, run id.Run, missing fault.Code, look string) error {
	switch n {
	case 1:
		return nil
	case 0:
		return fault.New(missing, "run %s has no %s that begins with %q", run, thing, ref).
			Suggest("See 'waybill %s %s'.", look, run)
	}
	return fault.New(fault.RunAmbiguous, "%d %ss of run %s begin with %q", n, thing, run, ref).
		Suggest("Give more of it.")
}

// annotationOf finds an annotation of the run by its id or the beginning of it, whatever
// became of it.
func annotationOf(ctx context.Context, o *cli.Store, run id.Run, ref string) (found id.Annotation, err error) {
	if whole, err := id.ParseAnnotation(ref); err == nil {
		return whole, nil
	}
	n := 0
	for q := (engine.AnnotationQuery{History: true, Limit: limits.AnnotationsPageMax}); ; {
		page, err := o.Annotations(ctx, run.String(), q)
		if err != nil {
			return found, err
		}
		for _, said := range page.Annotations {
			if begins(said.AnnotationID, ref) {
				found = said.AnnotationID
				n++
			}
		}
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			return found, one(n, ref, "annotation", run, fault.AnnotationNotFound, "annotations list --history")
		}
	}
}
