// Package limits defines every number that bounds a document or an input, once, with its reason
// (docs/design.md#limits). It holds constants only; the packages that read an input check it
// and return a fault. Sizes are checked before memory is allocated for the content.
package limits

// Budgets of the stored formats and of prompts. A larger value written by this version would be
// refused by readers, so they change only with the format. All are UTF-8 bytes unless the
// comment states another unit.
const (
	// BlockersMax is the number of blockers in one report.
	BlockersMax = 10
	// EvidenceRefsMax is the number of outputs that one gap refers to.
	EvidenceRefsMax = 10
	// MessageBytesMax bounds a blocker's message.
	MessageBytesMax = 512
	// SuggestedFixBytesMax bounds a blocker's suggested fix.
	SuggestedFixBytesMax = 1024
	// NotesBytesMax bounds notesMarkdown; more is truncated and ends in TruncationMarker.
	NotesBytesMax = 4096
	// WholeNotesBytesMax bounds the notes of one attempt. Those over NotesBytesMax are stored whole as
	// an artifact: a long report fits, and a file that was given by mistake does not.
	WholeNotesBytesMax = 1 << 20
	// TraceEntriesMax is the number of entries in one decision trace.
	TraceEntriesMax = 25
	// TraceEventsMax is the number of decision traces that one advance records: enough for every
	// loop that ends and begins around a step. The middle of a longer sequence is counted only.
	TraceEventsMax = 8
	// LoopIterationsMax bounds maxIterations and a literal count: a typing error must not make a
	// loop of a million iterations. Published workflows stay within a thousand.
	LoopIterationsMax = 100_000
	// LoopIterationsPerAdvanceMax bounds the iterations that one advance may pass without a step to execute:
	// nested loops whose bodies are all skipped could otherwise keep a call busy for hours.
	LoopIterationsPerAdvanceMax = 10_000
	// TraceSummaryBytesMax bounds one trace entry's summary.
	TraceSummaryBytesMax = 512
	// TraceBytesMax bounds all summaries of one trace together.
	TraceBytesMax = 8192
	// TraceRefsMax is the number of refs in one trace entry.
	TraceRefsMax = 10
	// ShortStringMax bounds a short_string observation.
	ShortStringMax = 80
	// ObservedValuesMax is the number of branches, and of commits, that an attempt adds to at most in the log of a
	// session: the fold of a session holds all of them, and a run that is advanced after each of thousands of
	// commits must not grow it.
	ObservedValuesMax = 256
	// PathMax bounds a path observation and a workflow's source path.
	PathMax = 512
	// ContextBytesMax bounds context, each delta and the merged result, as RFC 8785 bytes
	// (docs/design.md#context).
	ContextBytesMax = 256 << 10
	// DedupeKeyMax bounds a dedupeKey.
	DedupeKeyMax = 256
	// RequirementsShownMax is the number of output requirements that a prompt lists
	// (docs/design.md#output-requirements).
	RequirementsShownMax = 5
	// RefBytesMax bounds one wr.refs text (docs/design.md#authoring): a reference is a reminder
	// inside an instruction, and beyond two pages of text it would replace the instruction.
	RefBytesMax = 4096
	// InjectedBytesPerStepMax bounds all references and features that are injected into one step
	// (docs/design.md#authoring): four references of full size, so that the author's own text
	// remains the larger part.
	InjectedBytesPerStepMax = 16384
	// FunctionsBytesMax bounds the function definitions in one prompt; more is truncated and ends
	// in TruncationMarker (docs/design.md#compilation). It equals the notes of four steps: with
	// more, a reader would see the definitions and miss the step.
	FunctionsBytesMax = 16384
	// PromptBytesMax bounds a prompt with its values (docs/design.md#rendered-text): a model reads
	// about a quarter of it in one piece, and a value that is larger belongs into a file.
	PromptBytesMax = 256 << 10
	// StepTitleBytesMax bounds a title with its values, which is shown in one line: the 128
	// characters of an authored title have at most that many bytes.
	StepTitleBytesMax = 512
	// AnswerBytesMax bounds an answer as a JSON document: step, blocked, candidates
	// (docs/design.md#rendered-text). Four prompts, since escapes lengthen a text.
	AnswerBytesMax = 1 << 20
	// ArtifactRowsMax is the number of artifacts of one session that a list reads at once.
	ArtifactRowsMax = 5000
	// ArtifactUsesMax is the number of submissions of an artifact that are shown with it.
	ArtifactUsesMax = 100
	// ArtifactShownBytesMax bounds the content that is shown of an artifact: more is read as a file.
	ArtifactShownBytesMax = 64 << 10
	// StepsDetailedMax is the number of iterations of a step that are shown in full, the latest ones.
	StepsDetailedMax = 100
	// AbsentShownMax is the number of absent values that an answer names, each in a warning.
	AbsentShownMax = 20
	// InputsShownMax is the number of missing context keys in the call that an answer suggests.
	InputsShownMax = 100
	// ResumeCandidatesMax is the number of runs in a resume answer (docs/design.md#resume-ranking).
	ResumeCandidatesMax = 5
	// ImportRunsShownMax is the number of runs in an import answer: each is shown with its title and
	// a token, for which its workflow is read. A session of a person has a handful.
	ImportRunsShownMax = 100
	// ResumeQueryBytesMax bounds a resume query: the words that a user remembers.
	ResumeQueryBytesMax = 4096
	// ResumeWholeNotesBytesMax bounds the whole texts of long notes that one resume reads: 64 MiB are searched in about
	// a second.
	ResumeWholeNotesBytesMax = 64 << 20
	// ResumeSnippetBytesMax bounds one candidate's snippet (docs/design.md#resume-ranking).
	ResumeSnippetBytesMax = 2048
)

// Limits of this implementation. They keep a hostile or mistaken input from using more memory,
// time or disk than it should. They may be raised without a change of the format, unless older
// versions would refuse what is then written.
const (
	// JSONDepthMax is the nesting depth of JSON: real documents stay under 20, while the stack of
	// a recursive parser would overflow somewhere beyond 10,000.
	JSONDepthMax = 64
	// ContextDepthMax is the nesting depth of context. Event lines and bundles add levels around
	// it, and must stay within JSONDepthMax themselves.
	ContextDepthMax = 48
	// LineBytesMax bounds one line of a log: a reader buffers a line at a time.
	LineBytesMax = 1 << 20
	// PayloadBytesMax bounds one event's data; half a line leaves enough for any envelope.
	PayloadBytesMax = 512 << 10
	// ArtifactBytesMax bounds one artifact: a whole artifact is held in memory.
	ArtifactBytesMax = 64 << 20
	// HeadCacheBytesMax bounds a session's head cache (docs/design.md#head-cache): reading a
	// larger one takes about as long as folding the log.
	HeadCacheBytesMax = 1 << 20
	// IndexBytesMax bounds the index of a store (docs/design.md#index): about 60,000 runs. A larger one is not
	// written, and lists read the sessions.
	IndexBytesMax = 64 << 20
	// IndexSettleNs is the age in nanoseconds from which on the times of a file are believed to show every change of
	// it. It covers filesystems that record times in steps of 2 s.
	IndexSettleNs = 2_000_000_000
	// HeadBriefBytesMax bounds the first line of a head cache, the only part that a search for a
	// run reads.
	HeadBriefBytesMax = 4096
	// ArtifactsMax is the number of artifacts that one attempt may submit.
	ArtifactsMax = 64
	// RecapBytesMax bounds the recovery text of a rehydrate answer (docs/design.md#recovery):
	// three notes of full size, or six of the usual size, which fit into a new chat beside the
	// prompt.
	RecapBytesMax = 12 << 10
	// RecapAncestorsMax is the number of steps before a node that a recovery text includes.
	// Earlier steps are in the log, and later notes usually summarize them.
	RecapAncestorsMax = 8
	// ResultHeadBytesMax is how much of a result of an earlier step is quoted: its first bytes, or
	// the end of a command's output (docs/design.md#results-of-earlier-steps).
	ResultHeadBytesMax = 512
	// ResultsBytesMax bounds the section about them in a prompt: six of full size, or a line for
	// each of thirty. It is repeated in every answer.
	ResultsBytesMax = 4 << 10
	// ResultsShownMax is the number of results that an answer reads and describes.
	ResultsShownMax = 12
	// ResultsReadBytesMax bounds the bytes of artifacts that are read for one answer: a digest is
	// known to match only when all of an artifact was read.
	ResultsReadBytesMax = 4 << 20
	// RecapBranchesMax is the number of branches that a recovery text summarizes, the preferred
	// one first.
	RecapBranchesMax = 5
	// WorkflowStepsMax bounds the steps of a compiled workflow; the largest in use has 40.
	WorkflowStepsMax = 2000
	// WorkflowValuesMax bounds the values of a workflow, of a file and of its compiled form, before
	// memory is taken for them: two thousand steps with fifty values each.
	WorkflowValuesMax = 100_000
	// TestCasesMax bounds the cases of a file of tests.
	TestCasesMax = 1000
	// TestAnswersMax bounds the answers of a case to one step, and the steps and messages that it expects.
	TestAnswersMax = 1000
	// TestPeopleMax bounds the people who approve one step in a case.
	TestPeopleMax = 9
	// TestShownBytesMax bounds a value that a failed case shows as expected or as got.
	TestShownBytesMax = 2000
	// WorkflowIDBytesMax bounds a workflow's id.
	WorkflowIDBytesMax = 64
	// StepIDBytesMax bounds the id of a compiled step: those of the routine calls that it came
	// from, at most nine of 64 bytes, precede its own.
	StepIDBytesMax = 640
	// CompiledTitleBytesMax bounds a title before it is filled: a routine's arguments may lengthen
	// it.
	CompiledTitleBytesMax = 4096
	// FilledBytesMax bounds an element of a command's argv, an environment value and a folder that
	// has a placeholder, once it is filled (docs/design.md#values-in-commands).
	FilledBytesMax = 64 << 10
	// DescriptionBytesMax bounds the description of a workflow and of an input: 512 characters.
	DescriptionBytesMax = 2048
	// InputsMax is the number of context keys that a workflow or a step may require.
	InputsMax = 1000
	// LoopDepthMax bounds the nesting of loops, inline or by name: a step's key contains the
	// iteration of each enclosing loop, and workflows in use nest at most three.
	LoopDepthMax = 8
	// ConditionsMax bounds the conditions that a workflow defines: a workflow needs about one
	// per loop, and every loop searches the list.
	ConditionsMax = 200
	// SourceFirstBytes is how much of a long file decides whether it may be a workflow: those in use have a key of one
	// in their first lines.
	SourceFirstBytes = 64 << 10
	// SourceBytesMax bounds a workflow file before it is parsed.
	SourceBytesMax = 4 << 20
	// DriftBytesMax bounds a workflow file that is compared with what a run is pinned to: it is compiled
	// with every answer, and a workflow of 2000 steps is smaller.
	DriftBytesMax = 1 << 20
	// CompiledBytesMax bounds a compiled workflow while it is expanded, to four times the largest
	// source: a definition or an argument may be copied into every step.
	CompiledBytesMax = 16 << 20
	// BundleBytesMax bounds a bundle before it is read.
	BundleBytesMax = 1 << 30
	// BundleIDBytesMax bounds a bundle's id, of Waybill or of another program: it is shown as a
	// label in one line.
	BundleIDBytesMax = 256
	// BundleLogsMax is the number of side logs in a bundle: a reader keeps a record for each, and
	// a session has one or two.
	BundleLogsMax = 64
	// BundleSegmentBytesMax bounds a segment in a bundle. One append writes less than 2 MiB, and a
	// reader keeps the events of a segment in memory.
	BundleSegmentBytesMax = 8 << 20
	// BundleSpellingMax bounds the size of an element in a bundle as a multiple of its RFC 8785
	// bytes: escapes take up to three times a text's bytes, indentation less.
	BundleSpellingMax = 4
	// ControlFileBytesMax bounds store.json, keyring.json, trust.json and config.json.
	ControlFileBytesMax = 1 << 20
	// WarningsMax bounds the warnings that are recorded with one decision, and
	// WarningValueBytesMax each text in them: a path, or a value of the context.
	WarningsMax          = 10
	WarningValueBytesMax = 128
	// SecretWarningsMax is the number of suspected secrets that an answer lists, each with a pointer cut to
	// SecretPointerBytesMax: the last one counts the rest.
	SecretWarningsMax     = 10
	SecretPointerBytesMax = 512
	// SecretsReadBytesMax bounds the bytes of artifacts in which one answer searches for secrets: JSON takes
	// about 80 ms per MiB.
	SecretsReadBytesMax = 4 << 20
	// SummaryBytesMax bounds a gap's summary and a run's closing reason, like a blocker's message.
	SummaryBytesMax = 512
	// AuditTextBytesMax bounds a reason and a detail in the audit log: four times what a person
	// may enter, since a redaction marker can be longer than the secret it replaces.
	AuditTextBytesMax = 2048
	// SignersMax is the number of keys that may sign consents: a signature is compared with each.
	SignersMax = 64
	// PublicKeyBytesMax bounds a public key: RSA with 16,384 bits has 2,800 bytes of base64.
	PublicKeyBytesMax = 4096
	// AllowedSignersBytesMax bounds a file of allowed signers.
	AllowedSignersBytesMax = 256 << 10
	// SignatureBytesMax bounds an armoured signature: RSA with 16,384 bits has 6 KiB with its key.
	SignatureBytesMax = 16 << 10
	// ConsentAgeMs is how long a printed payload can be signed and handed in: one day, in milliseconds.
	ConsentAgeMs = 24 * 3_600_000
	// ConsentAheadMs is how far the clock of the machine that made a payload may be ahead.
	ConsentAheadMs = 5 * 60_000
	// ConsentPayloadsMax is how many printed payloads of a store can still be handed in, the newest ones.
	ConsentPayloadsMax = 64
	// AuditDetailsMax is the number of details in one audit record, which is shown in one line.
	AuditDetailsMax = 16
	// AuditLinesMax is the number of audit records that one append adds: a store whose audit log
	// was never completed must not write its whole history into one segment.
	AuditLinesMax = 10_000
	// AuditCacheBytesMax bounds the saved positions from which the audit log is completed: about
	// 300 bytes for each of a hundred thousand sessions.
	AuditCacheBytesMax = 32 << 20
	// ActorRefMax bounds the name that an actor gives itself.
	ActorRefMax = 128
	// RunEventIDMax bounds the id of a run event, as clients of the protocol read it.
	RunEventIDMax = 128
	// ApproversMax bounds the roles and principals of which an approval needs one: a list that a person reads.
	ApproversMax = 32
	// ApprovalsMax bounds the approvals that a step can need. More people do not read what they approve.
	ApprovalsMax = 9
	// DecisionReasonBytesMax bounds the reason of a decision about a step. It is that of notes in a recap.
	DecisionReasonBytesMax = NotesBytesMax
	// TitleBytesMax bounds a run's title.
	TitleBytesMax = 256
	// GoalBytesMax bounds the goal of a run: a paragraph. It names the run where there is no title.
	GoalBytesMax = 1024
	// RefusalsInARow is the number of refused attempts at one step from which an answer warns: an
	// agent that corrects what the blockers name needs fewer.
	RefusalsInARow = 10
	// TagsMax is the number of tags of a run: that of the protocol (docs/design.md#openwop-events).
	TagsMax = 100
	// TagBytesMax bounds one tag: 256 characters, each of at most 4 bytes.
	TagBytesMax = 1024
	// RunOptionsBytesMax bounds the options of a run, in bytes of JCS: with tags and title they fit into
	// one event.
	RunOptionsBytesMax = 64 << 10
	// ContextKeyMax bounds the key of a declared input (docs/design.md#requirements-on-the-caller).
	ContextKeyMax = 128
	// ChoicesMax is the number of choices that an input takes from a result, and ChoiceBytesMax the size
	// of each as a text: a person finds one by typing it, and a longer list needs a step that narrows it.
	ChoicesMax     = 1000
	ChoiceBytesMax = 256
	// ChoicesShownMax is the number of choices that prompts, blockers and terminals list, and
	// ChoicesShownBytesMax bounds them in a prompt: a screen. The others are counted.
	ChoicesShownMax      = 32
	ChoicesShownBytesMax = 4 << 10
	// ChoicesReadBytesMax bounds the artifact from which choices are taken: it is read for each answer,
	// and a list of full size takes a tenth of it.
	ChoicesReadBytesMax = 4 << 20
	// SnapshotBytesMax bounds an execution snapshot file.
	SnapshotBytesMax = 4 << 20
	// EventIndexMax is the largest index that the eight digits of a segment name hold.
	EventIndexMax = 99_999_999
	// TokenBytesMax bounds a token before it is decoded; real ones stay under 600 bytes.
	TokenBytesMax = 4096
	// StreamHeadBytesMax and StreamTailBytesMax bound what is stored of stdout, and of stderr, of a
	// command: about 500 lines of each end. All four fit into an artifact of 1 MiB even if every
	// byte needs a JSON escape.
	StreamHeadBytesMax = 32 << 10
	StreamTailBytesMax = 32 << 10
	// CommandOutputBytesMax bounds the file that WAYBILL_OUTPUT names: members that are not declared
	// are ignored, so it may be larger than the context.
	CommandOutputBytesMax = 1 << 20
	// OutputValueBytesMax bounds one output of a command: what exceeds it cannot be a context.
	OutputValueBytesMax = ContextBytesMax
	// UndeclaredShownMax is the number of undeclared members that the result of a command names.
	UndeclaredShownMax = 10
	// ResultTailBytesMax bounds the end of stdout, and of stderr, in answers and errors: about one
	// screen.
	ResultTailBytesMax = 2 << 10
	// CommandTimeoutSecondsMax bounds an action's timeout: one week.
	CommandTimeoutSecondsMax = 7 * 24 * 3600
	// CommandAttemptsMax bounds how often the command of one action is executed.
	CommandAttemptsMax = 100
	// CommandBackoffSecondsMax bounds the pause between two executions: one day.
	CommandBackoffSecondsMax = 24 * 3600
	// ChecksMax is the number of checks of a step, each of which runs at every attempt.
	ChecksMax = 16
	// PinsMax is the number of pinned files of a check, and PinBytesMax bounds each: they are read
	// before and after every check.
	PinsMax     = 64
	PinBytesMax = 16 << 20
	// PinPathBytesMax bounds the path of a pinned file.
	PinPathBytesMax = 512
	// CheckSecondsDefault bounds a check without a timeout: half an hour. A check that hangs would
	// otherwise hold the run.
	CheckSecondsDefault = 1800
	// ProgramBytesMax bounds the program of a check, which is read when it is trusted and when it runs.
	ProgramBytesMax = 1 << 30
	// CheckValuesMax bounds the values in the stdout of a check that is read as JSON, before it is
	// parsed: the result of a linter for a large project. A value takes about 100 bytes of memory.
	CheckValuesMax = 500_000
	// ExitStatusMax is the largest exit status of a process: Windows has 32 bits.
	ExitStatusMax = 1<<32 - 1
	// EnvironmentValueBytesMax bounds a variable of the environment of checks, and EnvironmentMax is
	// the number of them: a PATH has some thousand bytes.
	EnvironmentValueBytesMax = 32 << 10
	EnvironmentMax           = 64
	// CheckTailBytesMax bounds the end of the output of a check in a blocker.
	CheckTailBytesMax = 2 << 10
	// CheckTailsBytesMax bounds the ends of the outputs of all checks of a step in an answer: four
	// checks with both outputs of full size.
	CheckTailsBytesMax = 16 << 10
	// TestReportBytesMax bounds the output from which the counts of tests are read
	// (docs/design.md#checks): the events of about 50,000 tests. It is held in memory.
	TestReportBytesMax = 16 << 20
	// TestReportTestsMax bounds the tests of one report. The shortest line of TAP has three bytes, and
	// a summary states any number: a larger one is an error in the report.
	TestReportTestsMax = 1_000_000
	// TestReportDepthMax bounds the levels of elements in a report in JUnit XML: suites in suites are
	// folders of tests.
	TestReportDepthMax = 64
	// TestReportAttributesMax bounds the attributes of one tag: a decoder allocates all of them before
	// it returns the tag.
	TestReportAttributesMax = 256
	// WaitUntilBytesMax bounds the until of a wait: a placeholder with a path of the context.
	WaitUntilBytesMax = 256
	// HostDelayMsMax bounds the delay of a host step: one minute. A longer pause is a wait, for which no server has to run.
	HostDelayMsMax = 60_000
	// HostDelayMsDefault is the delay of a host step for which nothing says another one.
	HostDelayMsDefault = 1000
	// HostErrorCodeBytesMax bounds the code of the error of a host step, and HostMessageCharactersMax its message: in
	// characters of at most four bytes, so that the message fits a run's closing reason.
	HostErrorCodeBytesMax    = 128
	HostMessageCharactersMax = SummaryBytesMax / 4
	// GateTimeoutMsMax bounds how long a host step waits for an answer: a leap year. GateNameCharactersMax bounds the name
	// of one who answers it, in characters of at most four bytes, and GateChoicesMax the choices of a question.
	GateTimeoutMsMax      = PeriodSecondsMax * 1000
	GateNameCharactersMax = 64
	GateChoicesMax        = 100
	// GateResponsesMax bounds the answers to one gate: a quorum that is neither met nor out of reach has fewer.
	GateResponsesMax = 4 * ApprovalsMax
	// DueStepsMax bounds the commands between a wait and the step at which a run is continued after a
	// crash: a list of what is due reads the snapshot of each.
	DueStepsMax = 64
	// PeriodSecondsMax bounds a period such as that of a wait: a leap year. A longer one is an instant.
	PeriodSecondsMax = 366 * 24 * 3600
	// CommitMessageBytesMax bounds what is read of the message of a commit. Messages are written by people; one that joins
	// a thousand others stays below it.
	CommitMessageBytesMax = 1 << 20
	// CommitTrailersMax bounds the trailers of one commit that are looked up (docs/design.md#commits): each may name
	// another run. The last ones count.
	CommitTrailersMax = 64
	// CommitsMax is the largest number of commits of a range that 'waybill who' reads: a long branch.
	CommitsMax = 100
	// CommitNameBytesMax bounds the name of a commit or range on the command line.
	CommitNameBytesMax = 1024
	// CommitRunsMax bounds the runs in one answer about commits: the decisions of each are listed.
	CommitRunsMax = 256
)

// TruncationMarker is the end of a text that was truncated to its budget. It is stored.
const TruncationMarker = "\n\n[TRUNCATED]"
