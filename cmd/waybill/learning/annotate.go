// Package learning holds the commands about what is learned from runs:
//
//   - annotate and annotations: feedback on runs, in side logs of their own
//   - proposals: what is proposed, reviewed and installed from that
//   - automations: installed schedules, and the runs that they start
//   - capabilities: what the store provides of these to other programs
//
// It decides nothing. Which proposal may be approved or applied, by which
// person and after how many approvals, is a rule of the engine; what the
// commands add is the terminal at which a person agrees.
//
// Text of annotations and proposals comes from others, agents among them. It
// is cleaned before a terminal shows it, and marked where a program may read.
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

// annotateLong is what 'waybill annotate --help' prints above the usage.
const annotateLong = `Say what you think of a run: rate it, correct it, label it or flag it for somebody to look
at. One annotation says one of these, with a note if you like. It is about the whole run,
or with --node or --event about a part of it. The run may be over, and is not touched:
annotations stand beside it, and a fork of the run does not take them along.

Nothing is ever overwritten. --supersedes puts a new annotation in the place of an earlier
one, and 'waybill annotations retract' takes one back; both stay on record. What looks like
a secret is taken out of what you say before it is stored.

--from takes the JSON of an annotation in place of the flags, such as
{"target": {"nodeId": "node_…"}, "signal": {"kind": "rating", "rating": 4}, "note": "…"}.`

// annotateInput is what the flags of annotate say. Exactly one of rating,
// correction, label and flag is given, or from, which takes the place of all of
// them. Whether a flag was given is asked of cobra: zero values are values as
// well.
type annotateInput struct {
	// The part of the run, as it was typed: an id or the beginning of one.
	node, event string
	// The signal: one of these four.
	rating     int64
	correction string
	label      string
	flag       bool
	note       string
	supersedes string
	confidence float64
	from       string
}

// NewAnnotate makes the command "annotate". It appends one annotation to the
// side log of the run's session and leaves the run itself alone, so that a
// finished run can be annotated too. The answer is the document "annotation" in
// the form of RFC 0056.
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

// request makes the annotation from the flags, or from the file in their place.
// It refuses what the flags alone show to be wrong: nothing to record, more
// than one signal, a file beside flags that repeat it, and names that are given
// and empty.
//
// A name that is given and empty is refused since it is a variable that is not
// set in most cases: without the refusal the annotation would be about the
// whole run. The values themselves are for the engine to check.
func (in *annotateInput) request(cmd *cobra.Command, a *cli.App) (req feedback.Request, err error) {
	// An empty value was given as well: only cobra knows the difference.
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
		// What the file says too must not be given a second time.
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
	// Exactly one signal is right.
	case 1:
	default:
		return req, cli.UsageFault(cmd, "%s are given together: one annotation says one thing", page.List(said)).
			Suggest("Give one, and make another call for the next.")
	}
	req.Note, req.Signal = in.note, in.signal(said[0])
	return req, nil
}

// signal is the signal of a flag, with its value.
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

// byFlag replaces the place in a document by the flag that the value came from,
// in a refusal of the engine: a person who typed flags knows nothing of such
// places. Refusals of a file are left as they are.
func (in *annotateInput) byFlag(err error) error {
	field, _ := fault.Of(err).Details["field"].(string)
	if in.from != "" || !fault.Is(err, fault.ValidationError) || field == "" {
		return err
	}
	f, flag := *fault.Of(err), "--"+field[strings.LastIndex(field, "/")+1:]
	f.Message, f.Suggestion = strings.Replace(f.Message, field, flag, 1), strings.Replace(f.Suggestion, field, flag, 1)
	return &f
}

// runAnnotate finds the run and the parts of it that the flags name, records
// the annotation and prints it. Parts are looked up before anything is written.
// Entropy is drawn before the store is opened: without it nothing could be
// recorded.
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
	// All names are resolved first: a name that is wrong must not leave an
	// annotation without it.
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

// showAnnotated prints what was recorded about which part of the run, and how
// it is retracted. It warns where secrets were removed, which shows in a
// difference between the request and the record. The title of a step is looked
// up in the store; without it the node is named by its id.
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

// annotatedNode finds a node of the run by its id, the beginning of it, or the
// step that was pending there, as 'fork --at' does. A node that is not found is
// TARGET_NOT_FOUND here, since no token was given.
func annotatedNode(ctx context.Context, o *cli.Store, run id.Run, ref string) (id.Node, error) {
	at, err := o.LocateNode(ctx, run.String(), ref)
	if fault.Is(err, fault.TokenUnknownNode) {
		f := fault.Of(err)
		err = fault.New(fault.TargetNotFound, "%s", f.Message).Suggest("%s", f.Suggestion)
	}
	return at.Node, err
}

// annotatedEvent finds an event of the run by its id or the beginning of it. A
// whole id is not looked up: the engine refuses one that the run does not have.
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

// begins reports an id that begins with ref, where the prefix that names the
// kind of the id may be left out. An empty ref begins no id.
func begins[T interface{ String() string }](name T, ref string) bool {
	s := name.String()
	prefix, rest, _ := strings.Cut(s, "_")
	ref = strings.TrimPrefix(ref, prefix+"_")
	return ref != "" && strings.HasPrefix(rest, ref)
}

// one is the error for a beginning that no id has, or more than one; nil for
// exactly one. missing is the code for none, and look the command that lists
// the ids.
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

// annotationOf finds an annotation of the run by its id or the beginning of it,
// also one that was superseded or retracted. It reads all pages of the list,
// since ids are not sorted by their beginnings.
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
