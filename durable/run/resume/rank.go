package resume

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/sorting"
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

// Candidate holds the recorded facts about one run.
type Candidate struct {
	Session      id.Session
	Run          id.Run
	Heads        []string // commits on which the session was observed, the latest last
	Branches     []string
	Title        string // of the run; "" without one
	Goal         string
	WorkflowID   string
	WorkflowName string
	LastAtMs     int64 // stored time of the run's last event, ms since 1970
	LastIndex    int64 // that event's index in its session
	// Notes are the notes of every node, and of every checkpoint, those that were recorded last first.
	Notes []Note
}

// Note is the notes of one node. Which node it is is up to the caller.
type Note struct {
	Words      Words // of the query, as Matcher.Words returns them
	Checkpoint bool
}

// Part is a part of a run that is searched for words, a closed set.
type Part string

// The parts.
const (
	InTitle      Part = "title"
	InGoal       Part = "goal"
	InNotes      Part = "notes"
	InCheckpoint Part = "checkpoint" // the notes of a checkpoint
)

// Place is the part of a run with most words of the query. Note is the index of the notes in Candidate.Notes, if the
// part is notes or a checkpoint.
type Place struct {
	Part Part
	Note int
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
func tierOf(r Reason) int { return max(1, slices.Index(reasons, r)) }

var (
	reasons  = Reasons()
	fallback = reasons[len(reasons)-1:]
)

// Ranked is what Match returns: a candidate without its texts, with every reason that matched, strongest first. Why is never empty; its
// first element determines the tier. Place is where the words of the query were found, nil where they were not.
type Ranked struct {
	Session      id.Session
	Run          id.Run
	WorkflowID   string
	WorkflowName string
	Goal         string
	LastAtMs     int64
	LastIndex    int64
	Why          []Reason
	Place        *Place

	// byWords is the strongest reason that the words of the query gave.
	byWords Reason
	// tier is the tier of the run, and in it that of byWords.
	tier [2]int
}

// Equal reports that two runs are ranked and shown alike.
func (r Ranked) Equal(other Ranked) bool {
	samePlace := r.Place == nil && other.Place == nil || r.Place != nil && other.Place != nil && *r.Place == *other.Place
	return samePlace && r.byWords == other.byWords && slices.Equal(r.Why, other.Why)
}

// Matcher is a query prepared for comparison with many candidates.
type Matcher struct {
	query Query
	// session or run is the one that the text is the id of.
	session id.Session
	run     id.Run
	index   map[string]int // the tokens of the query
	named   named
}

// NewMatcher prepares a query.
func NewMatcher(q Query) Matcher {
	m := Matcher{query: q, index: map[string]int{}}
	exact := strings.TrimSpace(q.Text)
	m.session, _ = id.ParseSession(exact)
	m.run, _ = id.ParseRun(exact)
	for token := range tokens(q.Text) {
		if _, ok := m.index[token]; !ok {
			m.index[token] = len(m.index)
		}
	}
	m.named = m.namedIn(q.Text)
	return m
}

// HasWords reports that the query has words: without any, no text is compared.
func (m Matcher) HasWords() bool { return len(m.index) > 0 }

// LacksWords reports that words of the query are in no text of a candidate.
func (m Matcher) LacksWords(c Candidate) bool { return m.HasWords() && !m.hasAll(m.texts(c)) }

// texts returns the words of the query that the texts of a run have together.
func (m Matcher) texts(c Candidate) Words { return c.inNotes(m.Words(c.Title).Or(m.Words(c.Goal))) }

// inNotes adds to words of the query those that the notes have.
func (c Candidate) inNotes(out Words) Words {
	for _, n := range c.Notes {
		out = out.Or(n.Words)
	}
	return out
}

// compared is what a query says of the parts of a run that are not its notes: the words that they have.
type compared struct {
	title, goal, workflow Words
	// head and branch report that the query names one, with the words ofHead and ofBranch. See named.branch for certain.
	head, branch, certain bool
	ofHead, ofBranch      Words
}

// compare compares the parts of a run that are not its notes.
func (m Matcher) compare(c Candidate) (out compared) {
	out = compared{title: m.Words(c.Title), goal: m.Words(c.Goal), workflow: m.Words(c.WorkflowID).Or(m.Words(c.WorkflowName))}
	out.head, out.ofHead = m.named.commit(c.Heads)
	out.branch, out.certain, out.ofBranch = m.named.branch(c.Branches)
	return out
}

// Match returns a candidate with its reasons, at least RecencyFallback.
func (m Matcher) Match(c Candidate) Ranked { return m.match(c, m.compare(c)) }

// Bounds returns Match of a candidate without its notes, and with them.
func (m Matcher) Bounds(c Candidate) (without, with Ranked) {
	of, alone := m.compare(c), c
	alone.Notes = nil
	return m.match(alone, of), m.match(c, of)
}

// match is Match for what was compared.
func (m Matcher) match(c Candidate, of compared) Ranked {
	r := Ranked{Session: c.Session, Run: c.Run, WorkflowID: c.WorkflowID, WorkflowName: c.WorkflowName, Goal: c.Goal,
		LastAtMs: c.LastAtMs, LastIndex: c.LastIndex}
	add := func(observed, byWords bool, reason Reason) {
		if observed || byWords {
			r.Why = append(r.Why, reason)
		}
		if byWords && r.byWords == "" {
			r.byWords = reason
		}
	}
	q, texts, words, branch := m.query, c.inNotes(of.title.Or(of.goal)), of.ofHead, of.branch
	if branch {
		words = words.Or(of.ofBranch)
		// "main" may be a word like any other: it names the branch if the run has all other words.
		branch = of.certain || m.hasAll(words.Or(texts).Or(of.workflow))
	}
	add(c.Session == q.Session || c.Session == m.session && !m.session.IsZero(), false, MatchedSessionID)
	add(c.Run == q.Run || c.Run == m.run && !m.run.IsZero(), false, MatchedRunID)
	add(q.GitHead != "" && slices.Contains(c.Heads, q.GitHead), of.head, MatchedHeadSHA)
	begins := func(b string) bool { return strings.HasPrefix(b, q.GitBranch) }
	add(q.GitBranch != "" && slices.ContainsFunc(c.Branches, begins), branch, MatchedBranch)
	add(false, m.hasAll(texts), MatchedNotes)
	add(false, m.hasAll(of.workflow), MatchedWorkflowID)
	if r.Why == nil {
		r.Why = fallback
	}
	r.tier = [2]int{tierOf(r.Why[0]), wordsTier(r.byWords)}
	if m.hasAll(texts) || (of.head || branch) && m.hasAll(words.Or(texts)) {
		r.Place = placeOf(c, of)
	}
	return r
}

// placeOf returns the part with most words of the query; of several the notes that were recorded last, else the goal.
func placeOf(c Candidate, of compared) *Place {
	most, best := 0, Place{}
	better := func(w Words, part Part, note int) {
		if n := w.Len(); n > most {
			most, best = n, Place{part, note}
		}
	}
	for i, n := range c.Notes {
		part := InNotes
		if n.Checkpoint {
			part = InCheckpoint
		}
		better(n.Words, part, i)
	}
	better(of.goal, InGoal, 0)
	better(of.title, InTitle, 0)
	if most == 0 {
		return nil
	}
	return &Place{best.Part, best.Note} // best is not on the heap: most candidates have none
}

// Sort sorts runs: by tier; in a tier by what the words of the query say beside it, so that of many runs of the
// checked-out commit those with the words come first; then latest activity by stored time, then event index, then session
// id and run id. Event indexes are not comparable between sessions, so the time precedes them
// (docs/design.md#resume-ranking).
//
// If the words match none of the runs that are shown, the last of those is the best run that they match: the
// runs of a commit may be many.
func Sort(all []Ranked) {
	sorting.By(all, func(a, b Ranked) int { return Compare(&a, &b) })
	if last := limits.ResumeCandidatesMax - 1; !slices.ContainsFunc(all[:min(len(all), last+1)], Ranked.HasWords) {
		if best := slices.IndexFunc(all, Ranked.HasWords); best > last {
			r := all[best]
			copy(all[last+1:best+1], all[last:best])
			all[last] = r
		}
	}
}

// Compare is the order of Sort, without its last rule. A run with more words of the query never comes later.
func Compare(a, b *Ranked) int {
	if a.tier != b.tier {
		return slices.Compare(a.tier[:], b.tier[:])
	}
	if c := cmp.Or(cmp.Compare(b.LastAtMs, a.LastAtMs), cmp.Compare(b.LastIndex, a.LastIndex)); c != 0 {
		return c
	}
	return cmp.Or(a.Session.Compare(b.Session), a.Run.Compare(b.Run))
}

// HasWords reports that the words of the query match the run.
func (r Ranked) HasWords() bool { return r.byWords != "" }

// wordsTier is the tier of a reason that words gave, behind all of them without one.
func wordsTier(r Reason) int {
	if r == "" {
		return len(Reasons())
	}
	return tierOf(r)
}

// Snippet truncates notes to the budget of a candidate's display.
func Snippet(notes string) string { return reason.Truncate(notes, limits.ResumeSnippetBytesMax) }

// SnippetAt is Snippet that begins shortly before the first word of the query, if that is far behind the beginning: at
// its line, unless that is long.
func (m Matcher) SnippetAt(notes string) string {
	at := m.firstIn(notes)
	if len(notes) <= limits.ResumeSnippetBytesMax || at < limits.ResumeSnippetBytesMax/2 {
		return Snippet(notes)
	}
	from := max(strings.LastIndexByte(notes[:at], '\n')+1, at-limits.ResumeSnippetBytesMax/4)
	for from < at && !utf8.RuneStart(notes[from]) {
		from++
	}
	return reason.Truncate("… "+notes[from:], limits.ResumeSnippetBytesMax)
}

// firstIn returns the offset of the first word of a text that the query has, 0 without one.
func (m Matcher) firstIn(text string) int {
	return firstWord(text, func(word string) bool { return m.Words(word).Len() > 0 })
}

// firstWord returns the offset of the first word between blanks that is accepted, 0 without one.
func firstWord(text string, accepts func(word string) bool) int {
	for at := 0; at < len(text); {
		word := text[at:]
		if end := strings.IndexFunc(word, unicode.IsSpace); end >= 0 {
			word = word[:end]
		}
		if accepts(word) {
			return at
		}
		_, space := utf8.DecodeRuneInString(text[at+len(word):])
		at += len(word) + space
	}
	return 0
}
