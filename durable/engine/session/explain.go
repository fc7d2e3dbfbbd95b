package session

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/projections/runs"
)

// candidatesShown is the number of ids that a message about an ambiguous prefix lists.
const candidatesShown = 8

// Ambiguous is RUN_AMBIGUOUS for a prefix of several ids, with the first of them in the order of the ids. nouns
// is what they are ids of.
func Ambiguous(nouns, ref string, ids []string) error {
	slices.Sort(ids)
	shown := ids[:min(len(ids), candidatesShown)]
	list := strings.Join(shown, ", ")
	if len(shown) < len(ids) {
		list += " …"
	}
	return fault.New(fault.RunAmbiguous, "%d %s begin with %q: %s", len(ids), nouns, ref, list).With("candidates", shown)
}

// explain returns the error of a search for a run. If no run was found and the reference is another thing, such as
// the id of a session, a node or a proposal, a token, or the id of a workflow, the error says so, and which command
// shows it. If it leads to a run, the details have the reference and the run, which is to be named in its place.
// Only a reference that begins with "node_" takes a reading of all sessions.
func explain(ctx context.Context, r *Reader, ref string, err error) error {
	if !fault.Is(err, fault.RunNotFound) || ref == Last {
		return err
	}
	if kind, run := token.Peek(ref); kind != "" {
		return explainToken(ctx, r, kind, run, ref)
	}
	if strings.HasPrefix(ref, "@") {
		return fault.New(fault.RunNotFound, "%q names no run: the only name of this form is %s", ref, Last).
			Suggest("Use %s for the latest run, or see %s.", Last, fault.Command{"runs", "list"})
	}
	if source.IDStatus(ref) == "namespaced" && !slices.Contains([]string{".json", ".yaml", ".yml"}, path.Ext(ref)) {
		return fault.New(fault.RunNotFound, "%q has the form of the id of a workflow, and not of a run", ref).
			Suggest("See its runs with %s.", fault.Command{"runs", "list", "--workflow", ref})
	}
	all, listErr := r.Sessions(ctx)
	if listErr != nil {
		return err
	}
	if strings.HasPrefix(ref, "node_") {
		err = explainNode(ctx, r, all, ref, err)
	} else {
		err = explainSession(ctx, r, all, ref, err)
	}
	if f := fault.WrongKind(fault.RunNotFound, ref, id.Noun(ref), "a run"); f != nil &&
		fault.Of(err).Details["runId"] == nil && fault.Is(err, fault.RunNotFound) {
		if id.Noun(ref) == "a session" { // an unknown one cannot be shown
			f.Suggestion = fault.Lookup(fault.RunNotFound).Suggestion
		}
		return f
	}
	return err
}

// explainToken is explain for a token of a run, which is unknown if the token is not of this store.
func explainToken(ctx context.Context, r *Reader, kind string, run id.Run, ref string) error {
	f := fault.New(fault.RunNotFound, "this is a token (%s), and not the id of a run", kind)
	if _, err := r.searchRun(ctx, run.String(), r.Index); run.IsZero() || err != nil {
		f.Message += "; its run is not in this store"
		return f
	}
	return f.Suggest("Name its run: %s.", fault.Command{"runs", "show", run.String()}).
		With("reference", ref).With("runId", run.String())
}

// explainSession is explain for what may be the id of a session, with or without "sess_".
func explainSession(ctx context.Context, r *Reader, all []id.Session, ref string, err error) error {
	found, ok, sessionErr := findSession(all, ref)
	if !ok {
		return cmp.Or(sessionErr, err)
	}
	list, _ := r.SessionRuns(ctx, found, r.HeadKey(ctx))
	if len(list) == 0 {
		return fault.New(fault.RunNotFound, "%s is a session, and none of its runs can be read", found).
			Suggest("See why with %s.", fault.Command{"verify", found.String()})
	}
	names := make([]string, len(list))
	for i, b := range list {
		names[i] = b.RunID.String()
	}
	latest := slices.MaxFunc(list, func(a, b runs.BriefRun) int {
		if isLater(a, b) {
			return 1
		}
		return -1
	}).RunID.String()
	return fault.New(fault.RunNotFound, "%s is a session, and not a run; its runs are: %s", found,
		strings.Join(names[:min(len(names), candidatesShown)], ", ")).
		Suggest("Show its latest run with %s.", fault.Command{"runs", "show", latest}).
		With("sessionId", found.String()).With("reference", ref).With("runId", latest)
}

// findSession returns the session whose id begins with a reference, with or without "sess_". Several are an error.
func findSession(all []id.Session, ref string) (found id.Session, ok bool, err error) {
	var ids []string
	for _, s := range all {
		if hasPrefix(s.String(), "sess_", ref) {
			found, ids = s, append(ids, s.String())
		}
	}
	if len(ids) > 1 {
		err = Ambiguous("sessions, and no run,", ref, ids)
	}
	return found, len(ids) == 1, err
}

// foundNode is a node with the session and run that have it.
type foundNode struct {
	history *History
	run     *runs.Run
	node    id.Node
}

// explainNode is explain for the id of a node. Sessions that cannot be read are passed over.
func explainNode(ctx context.Context, r *Reader, all []id.Session, ref string, err error) error {
	var ids []string
	var at foundNode
	for _, s := range all {
		h := r.NewHistory(s)
		if _, err := h.Read(ctx); err != nil {
			continue
		}
		for _, runID := range h.Fold.Order {
			for _, n := range h.Fold.Runs[runID].Order {
				if hasPrefix(n.String(), "node_", ref) {
					at, ids = foundNode{h, h.Fold.Runs[runID], n}, append(ids, n.String())
				}
			}
		}
	}
	switch len(ids) {
	case 0:
		return err
	case 1:
	default:
		return Ambiguous("nodes, and no run,", ref, ids)
	}
	run, shows := at.run.ID.String(), fault.Command{"runs", "graph", at.run.ID.String()}
	what := "a node"
	state, stateErr := r.State(ctx, at.run.Node(at.node))
	if stateErr == nil && state.PendingStep() != nil && slices.Contains(at.run.Path(at.run.Tip), at.node) {
		key := state.PendingStep().Key()
		what, shows = "the node of step "+key, fault.Command{"runs", "show", run, "--step", key}
	}
	return fault.New(fault.RunNotFound, "%s is %s of run %s, and not a run", at.node, what, run).
		Suggest("Show it with %s.", shows).With("nodeId", at.node.String()).
		With("reference", ref).With("runId", run)
}

// hasPrefix reports whether ref is a prefix of an id, with or without the word that ids of its kind begin with,
// and has a character after that word.
func hasPrefix(full, kind, ref string) bool {
	return ref != "" && ref != kind && (strings.HasPrefix(full, ref) || strings.HasPrefix(full, kind+ref))
}
