package id

import "strings"

type (
	session    struct{}
	run        struct{}
	node       struct{}
	event      struct{}
	attempt    struct{}
	output     struct{}
	gap        struct{}
	change     struct{}
	trace      struct{}
	capObs     struct{}
	divergence struct{}
	context    struct{}
	annotation struct{}
	proposal   struct{}
	bundle     struct{}
	store      struct{}
)

// The id types (docs/design.md#ids). Session and Run are random or derived from a start key;
// Annotation, Proposal, Bundle and Store are random; all others are derived.
type (
	// Session names one workstream and its log.
	Session = ID[session]
	// Run names one execution of one pinned workflow.
	Run = ID[run]
	// Node names a durable position in the DAG of a run.
	Node = ID[node]
	// Event names one event, which is one line of a log.
	Event = ID[event]
	// Attempt names one attempt to acknowledge a node's pending step.
	Attempt = ID[attempt]
	// Output names one appended output of a node.
	Output = ID[output]
	// Gap names one gap record.
	Gap = ID[gap]
	// Change names one preference change.
	Change = ID[change]
	// Trace names one decision trace.
	Trace = ID[trace]
	// CapObs names one capability observation.
	CapObs = ID[capObs]
	// Divergence names one divergence record.
	Divergence = ID[divergence]
	// Context names one context delta.
	Context = ID[context]
	// Annotation names one annotation record.
	Annotation = ID[annotation]
	// Proposal names one learning proposal.
	Proposal = ID[proposal]
	// Bundle names one export.
	Bundle = ID[bundle]
	// Store names one store, which is one tenant.
	Store = ID[store]
)

func (session) prefix() string    { return "sess" }
func (run) prefix() string        { return "run" }
func (node) prefix() string       { return "node" }
func (event) prefix() string      { return "evt" }
func (attempt) prefix() string    { return "attempt" }
func (output) prefix() string     { return "out" }
func (gap) prefix() string        { return "gap" }
func (change) prefix() string     { return "chg" }
func (trace) prefix() string      { return "trace" }
func (capObs) prefix() string     { return "capobs" }
func (divergence) prefix() string { return "div" }
func (context) prefix() string    { return "ctx" }
func (annotation) prefix() string { return "ann" }
func (proposal) prefix() string   { return "prop" }
func (bundle) prefix() string     { return "bundle" }
func (store) prefix() string      { return "store" }

// longestPrefix is the length of the longest prefix of a kind.
const longestPrefix = len("attempt")

// ParseSession parses a session id.
//
//go:noinline
func ParseSession(s string) (Session, error) { return Parse[session](s) }

// ParseRun parses a run id.
//
//go:noinline
func ParseRun(s string) (Run, error) { return Parse[run](s) }

// ParseNode parses a node id.
func ParseNode(s string) (Node, error) { return Parse[node](s) }

// ParseStore parses a store id.
func ParseStore(s string) (Store, error) { return Parse[store](s) }

// ParseEvent parses an event id.
func ParseEvent(s string) (Event, error) { return Parse[event](s) }

// ParseAttempt parses an attempt id.
func ParseAttempt(s string) (Attempt, error) { return Parse[attempt](s) }

// ParseAnnotation parses an annotation id.
func ParseAnnotation(s string) (Annotation, error) { return Parse[annotation](s) }

// ParseProposal parses a proposal id.
func ParseProposal(s string) (Proposal, error) { return Parse[proposal](s) }

// nouns are what ids are of, by the prefix of their kind.
var nouns = map[string]string{
	session{}.prefix(): "a session", run{}.prefix(): "a run", node{}.prefix(): "a node", event{}.prefix(): "an event",
	attempt{}.prefix(): "an attempt", output{}.prefix(): "an output", gap{}.prefix(): "a gap",
	change{}.prefix(): "a change of a preference", trace{}.prefix(): "a decision trace",
	capObs{}.prefix(): "an observation of a capability", divergence{}.prefix(): "a divergence",
	context{}.prefix(): "a change of the context", annotation{}.prefix(): "an annotation",
	proposal{}.prefix(): "a proposal", bundle{}.prefix(): "a bundle", store{}.prefix(): "a store",
}

// Noun returns what an id is of, with its article: "a run" for run_ and at least one character of an id. "" for a text
// that is not an id of any kind, nor the beginning of one.
func Noun(text string) string {
	prefix, rest, _ := strings.Cut(text, "_")
	if rest == "" || len(rest) > TextLen || !isBase32(rest) {
		return ""
	}
	return nouns[prefix]
}

// Typed returns a reference as it is typed or pasted in the spelling of ids: without blanks around it, and, if it is
// an id, a part of one or @last but for capital letters, in lower case.
func Typed(text string) string {
	text = strings.TrimSpace(text)
	lower := strings.ToLower(text)
	if lower == "@last" || Noun(lower) != "" || len(lower) <= TextLen && isBase32(lower) {
		return lower
	}
	return text
}
