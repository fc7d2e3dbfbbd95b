// Package limits names every number that bounds a document, once, with its
// reason. It holds constants only; who checks them says so with a fault.
package limits

// Budgets of the locks. All are counted in UTF-8 bytes unless the name says otherwise.
const (
	// BlockersMax is how many blockers one report holds (locks section 1, BlockerReport).
	BlockersMax = 10
	// MessageBytesMax bounds a blocker's message (locks section 1).
	MessageBytesMax = 512
	// SuggestedFixBytesMax bounds a blocker's suggested fix (locks section 1).
	SuggestedFixBytesMax = 1024
	// NotesBytesMax bounds notesMarkdown; more is truncated with the marker (locks section 1).
	NotesBytesMax = 4096
	// TraceEntriesMax is how many entries one decision trace holds (locks section 1).
	TraceEntriesMax = 25
	// TraceEventsMax is how many decision traces one advance records: enough for every
	// loop that ends and begins around a step; the middle of longer walks is counted.
	TraceEventsMax = 8
	// LoopIterationsMax bounds maxIterations and a literal count: a typing error must
	// not make a loop of a million. Published files stay within a thousand.
	LoopIterationsMax = 100_000
	// LoopTurnsMax bounds the iterations that one advance may pass through without a
	// step that waits: nested loops whose bodies are all passed over could otherwise
	// keep a call busy for ever.
	LoopTurnsMax = 10_000
	// TraceSummaryBytesMax bounds one trace entry's summary (locks section 1).
	TraceSummaryBytesMax = 512
	// TraceBytesMax bounds the summaries of one trace together (locks section 1).
	TraceBytesMax = 8192
	// TraceRefsMax is how many refs one trace entry holds (locks section 1).
	TraceRefsMax = 10
	// ShortStringMax bounds a short_string observation, in characters (locks section 1).
	ShortStringMax = 80
	// PathMax bounds a path observation, in characters (locks section 1).
	PathMax = 512
	// ContextBytesMax bounds context, given and merged, by its JCS bytes (locks 16.3.1; R19).
	ContextBytesMax = 256 << 10
	// DedupeKeyMax is the length of a dedupeKey in characters (locks section 1).
	DedupeKeyMax = 256
	// RequirementsShownMax is how many output requirements a prompt lists (locks 18.3).
	RequirementsShownMax = 5
	// RefBytesMax bounds one wr.refs text (locks section 9): a reference is a reminder that is
	// read inside an instruction; two pages of text is where it becomes the instruction.
	RefBytesMax = 4096
	// InjectedBytesPerStepMax bounds what references and features put into one step together
	// (locks section 9): four full references, so that the author's own words stay the larger part.
	InjectedBytesPerStepMax = 16384
	// FunctionsBytesMax bounds the function definitions that one prompt writes out; more is
	// truncated with the marker (locks section 5). Four steps' worth of notes: beyond it
	// the definitions, not the step, would be what is read.
	FunctionsBytesMax = 16384
	// ResumeCandidatesMax and ResumeSnippetBytesMax bound a resume answer (locks 2.3).
	ResumeCandidatesMax = 5
	// ResumeQueryBytesMax bounds a query: words that somebody remembers.
	ResumeQueryBytesMax = 4096
	// ResumeSnippetBytesMax bounds one candidate's snippet (locks 2.3).
	ResumeSnippetBytesMax = 2048
)

// Limits of our own: what keeps a hostile or mistaken input from costing more
// than it may.
const (
	// JSONDepthMax is how deep JSON may nest: real documents stay under 20, a parser's stack over 10,000.
	JSONDepthMax = 64
	// ContextDepthMax is how deep context may nest: an event line and a bundle put
	// levels around it, and must stay within JSONDepthMax themselves.
	ContextDepthMax = 48
	// LineBytesMax bounds one line of a log: a reader buffers a line at a time.
	LineBytesMax = 1 << 20
	// PayloadBytesMax bounds one event's data; half a line leaves any envelope room.
	PayloadBytesMax = 512 << 10
	// ArtifactBytesMax bounds one artifact: they are held in memory once.
	ArtifactBytesMax = 64 << 20
	// HeadCacheBytesMax bounds a session's head cache: beyond it, reading a fold that was
	// saved saves little against folding the log.
	HeadCacheBytesMax = 1 << 20
	// HeadBriefBytesMax bounds its first line, which is all that finding a run reads.
	HeadBriefBytesMax = 4096
	// ArtifactsMax is how many artifacts one attempt may bring.
	ArtifactsMax = 64
	// RecapBytesMax bounds the recovery text of a rehydrate answer: three full notes, or twice
	// as many of the usual length, which is what fits in a fresh chat beside the prompt itself.
	RecapBytesMax = 12 << 10
	// RecapAncestorsMax is how many steps before a node a recovery text looks back at: what is
	// further back is in the log, and in the notes of those who built on it.
	RecapAncestorsMax = 8
	// RecapBranchesMax is how many branches a recovery text sums up, the preferred one first.
	RecapBranchesMax = 5
	// WorkflowStepsMax bounds a compiled workflow; the biggest in use has 40 steps.
	WorkflowStepsMax = 2000
	// LoopDepthMax bounds loops in loops, written out or named: a step's key holds the
	// iteration of each, and nobody follows more than three.
	LoopDepthMax = 8
	// ConditionsMax bounds the conditions that a workflow names: one for each loop is
	// plenty, and every loop looks through them.
	ConditionsMax = 200
	// SourceBytesMax bounds a workflow file before it is parsed.
	SourceBytesMax = 4 << 20
	// CompiledBytesMax bounds the text of a compiled workflow while it is expanded: four
	// times the largest source, before one definition or argument is copied into every step.
	CompiledBytesMax = 16 << 20
	// BundleBytesMax bounds a bundle before it is read.
	BundleBytesMax = 1 << 30
	// BundleIDBytesMax bounds a bundle's id, whoever wrote it: a label that is shown in a line.
	BundleIDBytesMax = 256
	// BundleLogsMax is how many side logs a bundle may carry: a reader keeps a record for
	// each, and a session has one or two.
	BundleLogsMax = 64
	// BundleSpellingMax is how many times its JCS bytes an element of a bundle may take up as
	// it is spelled there: escapes take three times a text's bytes, indentation less.
	BundleSpellingMax = 4
	// ControlFileBytesMax bounds store.json, keyring.json, trust.json and config.json.
	ControlFileBytesMax = 1 << 20
	// SummaryBytesMax bounds a gap's summary and a run's closing reason, as a blocker's message.
	SummaryBytesMax = 512
	// AuditTextBytesMax bounds a reason and a detail as the audit log keeps them: four times
	// what a person may give, since a redaction's mark can be longer than the secret.
	AuditTextBytesMax = 2048
	// AuditDetailsMax is how many details one line of the audit log holds: it is read as a line.
	AuditDetailsMax = 16
	// AuditLinesMax is how many lines one append completes the audit log with: a store that
	// was never completed must not need all its past in one file.
	AuditLinesMax = 10_000
	// AuditCacheBytesMax bounds the saved place from which the audit log is completed: some
	// hundred bytes for each of a hundred thousand sessions.
	AuditCacheBytesMax = 32 << 20
	// ActorRefMax bounds who an actor says it is.
	ActorRefMax = 128
	// TitleBytesMax bounds a run's title.
	TitleBytesMax = 256
	// TagsMax is how many tags a run may carry; TagBytesMax bounds each.
	TagsMax = 32
	// TagBytesMax bounds one tag.
	TagBytesMax = 64
	// ContextKeyMax is the length of a declared input's key (R20).
	ContextKeyMax = 128
	// SnapshotBytesMax bounds an execution snapshot file.
	SnapshotBytesMax = 4 << 20
	// EventIndexMax is the largest index that the eight digits of a segment name hold.
	EventIndexMax = 99_999_999
	// TokenBytesMax bounds a token before it is decoded; real ones stay under 600 bytes.
	TokenBytesMax = 4096
	// CommandTimeoutSecondsMax bounds an action's timeout: one week.
	CommandTimeoutSecondsMax = 7 * 24 * 3600
	// CommandAttemptsMax bounds the tries of one action.
	CommandAttemptsMax = 100
	// CommandBackoffSecondsMax bounds the pause between two tries: one day.
	CommandBackoffSecondsMax = 24 * 3600
)

// TruncationMarker is what a text ends with where the locks let it be cut.
const TruncationMarker = "\n\n[TRUNCATED]"
