package resume

import (
	"cmp"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
)

// Query is what somebody knows about the run they are looking for. What they do not
// know is zero; an empty query asks for the latest runs.
type Query struct {
	Text      string
	Session   id.Session
	Run       id.Run
	GitHead   string // the commit of the workspace that they are in
	GitBranch string // its branch, or how a branch begins
}

// Candidate is what is on record about one run, seen from its preferred tip.
type Candidate struct {
	Session      id.Session
	Run          id.Run
	GitHead      string // latest observations of the session; "" where there is none
	GitBranch    string
	Notes        string // the tip's current recap
	WorkflowID   string
	WorkflowName string
	LastAtMs     int64 // stored time of the run's last event
	LastIndex    int64 // its index
}

// Reason is the closed set of why a run is offered (locks 2.3; R26).
type Reason string

// The reasons, best first.
const (
	MatchedSessionID  Reason = "matched_session_id"
	MatchedRunID      Reason = "matched_run_id"
	MatchedHeadSHA    Reason = "matched_head_sha"
	MatchedBranch     Reason = "matched_branch"
	MatchedNotes      Reason = "matched_notes"
	MatchedWorkflowID Reason = "matched_workflow_id"
	RecencyFallback   Reason = "recency_fallback"
)

// Reasons lists the closed set, best first.
func Reasons() []Reason {
	return []Reason{MatchedSessionID, MatchedRunID, MatchedHeadSHA, MatchedBranch, MatchedNotes, MatchedWorkflowID,
		RecencyFallback}
}

// tierOf is the layer of a reason: 0 is the best. An id of either kind names a run
// as well as the other.
func tierOf(r Reason) int { return max(1, slices.Index(Reasons(), r)) }

// Ranked is a candidate in its place. Why holds everything that matched, best first;
// the first alone gives the place.
type Ranked struct {
	Candidate
	Why []Reason
}

// Rank puts candidates into the one order that the locks give: by tier, then the
// latest activity by stored time, then by event index, then by session and run id.
// All are ranked, none is left out. Event indices alone do not compare between
// sessions, so the time stands before them (R26).
func Rank(q Query, all []Candidate) []Ranked {
	asked := matcher{Query: q, words: wordsOf(q.Text), exact: strings.TrimSpace(q.Text)}
	out := make([]Ranked, len(all))
	for i, c := range all {
		out[i] = Ranked{c, asked.why(c)}
	}
	slices.SortFunc(out, func(a, b Ranked) int {
		return cmp.Or(
			cmp.Compare(tierOf(a.Why[0]), tierOf(b.Why[0])),
			cmp.Compare(b.LastAtMs, a.LastAtMs),
			cmp.Compare(b.LastIndex, a.LastIndex),
			cmp.Compare(a.Session.String(), b.Session.String()),
			cmp.Compare(a.Run.String(), b.Run.String()))
	})
	return out
}

type matcher struct {
	Query
	words words
	exact string // the text, which may be an id
}

// why is never empty.
func (m matcher) why(c Candidate) []Reason {
	var out []Reason
	add := func(matched bool, r Reason) {
		if matched {
			out = append(out, r)
		}
	}
	add(c.Session == m.Session || c.Session.String() == m.exact, MatchedSessionID)
	add(c.Run == m.Run || c.Run.String() == m.exact, MatchedRunID)
	add(m.GitHead != "" && c.GitHead == m.GitHead, MatchedHeadSHA)
	add(m.GitBranch != "" && strings.HasPrefix(c.GitBranch, m.GitBranch), MatchedBranch)
	add(m.words.allIn(unmarked(c.Notes)), MatchedNotes)
	add(m.words.allIn(c.WorkflowID, c.WorkflowName), MatchedWorkflowID)
	if out == nil {
		out = []Reason{RecencyFallback}
	}
	return out
}

// unmarked is notes without the marker of a cut, which nobody wrote.
func unmarked(notes string) string { return strings.TrimSuffix(notes, limits.TruncationMarker) }

// Snippet is what of a recap a candidate shows, within its budget.
func Snippet(notes string) string { return reason.Truncate(notes, limits.ResumeSnippetBytesMax) }
