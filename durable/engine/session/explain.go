package session

import (
	"context"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/projections/runs"
)

// candidatesShown is the number of ids that a message about an ambiguous prefix lists.
const candidatesShown = 8

// idLetters are the characters of ids after their kind: nothing else is repeated in a command.
const idLetters = "abcdefghijklmnopqrstuvwxyz234567"

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

// Explain returns the error of a search for a run. If no run was found and the reference is of a session, a
// proposal or a node, the error says so, and which command shows it. Only a reference that begins with "node_"
// takes a reading of all sessions.
func Explain(ctx context.Context, r *Reader, ref string, err error) error {
	if !fault.Is(err, fault.RunNotFound) {
		return err
	}
	if rest, is := strings.CutPrefix(ref, "prop_"); is && rest != "" && strings.Trim(rest, idLetters) == "" {
		return fault.New(fault.RunNotFound, "%q is the id of a proposal, and not of a run", ref).
			Suggest("Show the proposal with %s.", fault.Command{"proposals", "get", ref})
	}
	all, listErr := r.Sessions(ctx)
	if listErr != nil {
		return err
	}
	if strings.HasPrefix(ref, "node_") {
		return explainNode(ctx, r, all, ref, err)
	}
	return explainSession(ctx, r, all, ref, err)
}

// explainSession is Explain for what may be the id of a session, with or without "sess_".
func explainSession(ctx context.Context, r *Reader, all []id.Session, ref string, err error) error {
	var ids []string
	var found id.Session
	for _, s := range all {
		if hasPrefix(s.String(), "sess_", ref) {
			found, ids = s, append(ids, s.String())
		}
	}
	switch len(ids) {
	case 0:
		return err
	case 1:
	default:
		return Ambiguous("sessions, and no run,", ref, ids)
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
		With("sessionId", found.String()).With("runId", latest)
}

// foundNode is a node with the session and run that have it.
type foundNode struct {
	history *History
	run     *runs.Run
	node    id.Node
}

// explainNode is Explain for the id of a node. Sessions that cannot be read are passed over.
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
		Suggest("Show it with %s.", shows).With("nodeId", at.node.String()).With("runId", run)
}

// hasPrefix reports whether ref is a prefix of an id, with or without the word that ids of its kind begin with,
// and has a character after that word.
func hasPrefix(full, kind, ref string) bool {
	return ref != "" && ref != kind && (strings.HasPrefix(full, ref) || strings.HasPrefix(full, kind+ref))
}
