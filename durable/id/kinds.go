package id

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

// ParseSession parses a session id.
func ParseSession(s string) (Session, error) { return Parse[session](s) }

// ParseRun parses a run id.
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
