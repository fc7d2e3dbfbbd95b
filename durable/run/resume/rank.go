package resume

import (
	"cmp"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
)

// Query is what the caller knows about the run to continue. Unknown members are zero; the
// zero Query asks for the latest runs.
type Query struct {
	Text      string
	Session   id.Session
	Run       id.Run
	GitHead   string // commit of the caller's workspace
	GitBranch string // branch of the workspace, or a prefix of its name
}

// Candidate holds the recorded facts about one run, at its preferred tip.
type Candidate struct {
	Session      id.Session
	Run          id.Run
	GitHead      string // latest observation of the session; "" if none
	GitBranch    string
	Notes        string // current recap at the tip
	Goal         string // of the run; "" without one
	WorkflowID   string
	WorkflowName string
	LastAtMs     int64 // stored time of the run's last event, ms since 1970
	LastIndex    int64 // that event's index in its session
}

// Reason is the closed set of reasons for which a run is offered
// (docs/design.md#resume-ranking).
type Reason string

// The reasons, strongest first.
const (
	MatchedSessionID  Reason = "matched_session_id"
	MatchedRunID      Reason = "matched_run_id"
	MatchedHeadSHA    Reason = "matched_head_sha"
	MatchedBranch     Reason = "matched_branch"
	MatchedNotes      Reason = "matched_notes"
	MatchedWorkflowID Reason = "matched_workflow_id"
	RecencyFallback   Reason = "recency_fallback"
)

// Reasons lists the reasons, strongest first.
func Reasons() []Reason {
	return []Reason{MatchedSessionID, MatchedRunID, MatchedHeadSHA, MatchedBranch, MatchedNotes, MatchedWorkflowID,
		RecencyFallback}
}

// tierOf returns the tier of a reason, lower is better. Session id and run id share a tier:
// either identifies the run.
func tierOf(r Reason) int { return max(1, slices.Index(Reasons(), r)) }

// Ranked is a candidate with every reason that matched, strongest first. Why is never empty;
// its first element determines the tier.
type Ranked struct {
	Candidate
	Why []Reason
}

// Rank sorts candidates: by tier, then latest activity by stored time, then event index, then
// session id and run id. It drops none. Event indexes are not comparable between sessions, so
// the time precedes them (docs/design.md#resume-ranking).
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

// matcher is a query prepared for comparison with many candidates.
type matcher struct {
	Query
	words words
	exact string // the trimmed text, which may be an id
}

// why returns the reasons for a candidate, at least RecencyFallback.
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
	add(m.words.allIn(unmarked(c.Notes), c.Goal), MatchedNotes)
	add(m.words.allIn(c.WorkflowID, c.WorkflowName), MatchedWorkflowID)
	if out == nil {
		out = []Reason{RecencyFallback}
	}
	return out
}

// unmarked removes the truncation marker, whose words are not part of the notes.
func unmarked(notes string) string { return strings.TrimSuffix(notes, limits.TruncationMarker) }

// Snippet truncates a recap to the budget of a candidate's display.
func Snippet(notes string) string { return reason.Truncate(notes, limits.ResumeSnippetBytesMax) }
