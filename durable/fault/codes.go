package fault

// Code is a member of the closed set of error codes. Programs branch on codes: a code may be
// added, and is never renamed, removed or used for another meaning.
type Code string

// Faults of state, ack and checkpoint tokens (docs/design.md#tokens). None of them changes the
// store; every one is recovered from with 'waybill continue --run ID', which needs no token.
const (
	TokenInvalidFormat        Code = "TOKEN_INVALID_FORMAT"
	TokenUnsupportedVersion   Code = "TOKEN_UNSUPPORTED_VERSION"
	TokenBadSignature         Code = "TOKEN_BAD_SIGNATURE"
	TokenScopeMismatch        Code = "TOKEN_SCOPE_MISMATCH"
	TokenUnknownNode          Code = "TOKEN_UNKNOWN_NODE"
	TokenWorkflowHashMismatch Code = "TOKEN_WORKFLOW_HASH_MISMATCH"
	TokenSessionLocked        Code = "TOKEN_SESSION_LOCKED"
)

// Faults of sessions and runs: they are missing, ambiguous, busy, damaged or in a state that
// does not accept the call.
const (
	SessionLocked     Code = "SESSION_LOCKED"
	SessionUnhealthy  Code = "SESSION_UNHEALTHY"
	SessionNotFound   Code = "SESSION_NOT_FOUND"
	SessionHandedOver Code = "SESSION_HANDED_OVER"
	RunNotFound       Code = "RUN_NOT_FOUND"
	RunAmbiguous      Code = "RUN_AMBIGUOUS"
	RunBusy           Code = "RUN_BUSY"
	RunClosed         Code = "RUN_CLOSED"
	RunWaiting        Code = "RUN_WAITING"
	ForkPointInvalid  Code = "FORK_POINT_INVALID"
	RunPaused         Code = "RUN_PAUSED"
	DecisionRefused   Code = "DECISION_REFUSED"
	StartKeyTaken     Code = "START_KEY_TAKEN"
	RunBlocked        Code = "RUN_BLOCKED"
	StepFailed        Code = "STEP_FAILED"
)

// Faults of requests with an idempotency key (docs/design.md#idempotency-keys). Their HTTP status is 409.
const (
	IdempotencyMismatch Code = "IDEMPOTENCY_MISMATCH"
	IdempotencyInFlight Code = "IDEMPOTENCY_IN_FLIGHT"
)

// Faults of the store and its files. STORE_OUTCOME_UNKNOWN and STORE_ANSWER_UNREAD are the only
// ones after which something may have been recorded (docs/design.md#answers).
const (
	StoreConflict       Code = "STORE_CONFLICT"
	StoreOutcomeUnknown Code = "STORE_OUTCOME_UNKNOWN"
	StoreAnswerUnread   Code = "STORE_ANSWER_UNREAD"
	StoreIO             Code = "STORE_IO"
	StoreFull           Code = "STORE_FULL"
	StoreReadOnly       Code = "STORE_READ_ONLY"
	StoreNewer          Code = "STORE_NEWER"
	StoreForeign        Code = "STORE_FOREIGN"
	StoreInvalid        Code = "STORE_INVALID"
	StoreNetworkFS      Code = "STORE_NETWORK_FS"
	StoreCorrupt        Code = "STORE_CORRUPT"
	StoreLocked         Code = "STORE_LOCKED"
	StoreLimit          Code = "STORE_LIMIT"
	StoreUnreachable    Code = "STORE_UNREACHABLE"
	KeyringInvalid      Code = "KEYRING_INVALID"
)

// Faults of bundles (docs/design.md#bundles), and of artifacts, kept sessions and expected heads,
// which imports, exports and deletions report.
const (
	BundleInvalidFormat         Code = "BUNDLE_INVALID_FORMAT"
	BundleUnsupportedVersion    Code = "BUNDLE_UNSUPPORTED_VERSION"
	BundleIntegrityFailed       Code = "BUNDLE_INTEGRITY_FAILED"
	BundleMissingSnapshot       Code = "BUNDLE_MISSING_SNAPSHOT"
	BundleMissingPinnedWorkflow Code = "BUNDLE_MISSING_PINNED_WORKFLOW"
	BundleEventOrderInvalid     Code = "BUNDLE_EVENT_ORDER_INVALID"
	BundleManifestOrderInvalid  Code = "BUNDLE_MANIFEST_ORDER_INVALID"
	BundleCollision             Code = "BUNDLE_COLLISION"
	SessionDiverged             Code = "SESSION_DIVERGED"
	ArtifactErased              Code = "ARTIFACT_ERASED"
	ArtifactNotFound            Code = "ARTIFACT_NOT_FOUND"
	SessionKept                 Code = "SESSION_KEPT"
	HeadMismatch                Code = "HEAD_MISMATCH"
)

// Faults of finding, validating and trusting workflows.
const (
	WorkflowInvalid   Code = "WORKFLOW_INVALID"
	WorkflowNotFound  Code = "WORKFLOW_NOT_FOUND"
	WorkflowAmbiguous Code = "WORKFLOW_AMBIGUOUS"
	TestsNotFound     Code = "TESTS_NOT_FOUND"
	WorkflowUntrusted Code = "WORKFLOW_UNTRUSTED"
	SourceNotFound    Code = "SOURCE_NOT_FOUND"
)

// Faults of annotations (docs/design.md#annotations) and proposals (docs/design.md#proposals).
// Of the HTTP statuses that an API would use for them, CAPABILITY_NOT_PROVIDED is 501,
// PROPOSAL_FORBIDDEN 403 and PROPOSAL_INVALID 422.
const (
	CapabilityNotProvided Code = "CAPABILITY_NOT_PROVIDED"
	CapabilityRequired    Code = "CAPABILITY_REQUIRED"
	AnnotationNotFound    Code = "ANNOTATION_NOT_FOUND"
	TargetNotFound        Code = "TARGET_NOT_FOUND"
	ProposalNotFound      Code = "PROPOSAL_NOT_FOUND"
	ProposalState         Code = "PROPOSAL_STATE"
	ProposalPending       Code = "PROPOSAL_PENDING"
	ProposalForbidden     Code = "PROPOSAL_FORBIDDEN"
	ProposalInvalid       Code = "PROPOSAL_INVALID"
	ProposalChanged       Code = "PROPOSAL_CHANGED"
	PolicyUnconfirmed     Code = "POLICY_UNCONFIRMED"
	PrincipalsUnbound     Code = "PRINCIPALS_UNBOUND"
	SignatureRequired     Code = "SIGNATURE_REQUIRED"
	SignatureRefused      Code = "SIGNATURE_REFUSED"
)

// Faults of interrupts of runs (docs/design.md#openwop-interrupts).
const (
	InterruptNotFound  Code = "INTERRUPT_NOT_FOUND"
	InterruptResolved  Code = "INTERRUPT_RESOLVED"
	InterruptExpired   Code = "INTERRUPT_EXPIRED"
	InterruptMismatch  Code = "INTERRUPT_MISMATCH"
	InterruptForbidden Code = "INTERRUPT_FORBIDDEN"
)

// Faults of the caller's input, of git, of the process and of Waybill itself. INVARIANT_VIOLATION and
// INTERNAL_ERROR are bugs or damage that no check has named.
const (
	ValidationError Code = "VALIDATION_ERROR"
	UsageError      Code = "USAGE_ERROR"
	ConfigInvalid   Code = "CONFIG_INVALID"
	Interrupted     Code = "INTERRUPTED"
	OutputFailed    Code = "OUTPUT_FAILED"
	CommitNotFound  Code = "COMMIT_NOT_FOUND"
	GitFailed       Code = "GIT_FAILED"
	Invariant       Code = "INVARIANT_VIOLATION"
	Internal        Code = "INTERNAL_ERROR"
)

// Exit statuses of the command line (docs/design.md#callers). Scripts branch on them: a status
// keeps its meaning.
const (
	ExitDone      = 0 // success
	ExitFailed    = 1 // any failure without a status of its own
	ExitUsage     = 2 // the command line or another input is not valid
	ExitWaiting   = 3 // a person has to act before the run continues
	ExitBusy      = 4 // a lock is held or the store is out of reach; the same call may succeed later
	ExitIntegrity = 5 // data is damaged, or it is unknown what was written
	ExitNotFound  = 6 // the named session, run, workflow or object does not exist
)

// Row holds the fixed properties of a code.
type Row struct {
	Code       Code
	Exit       int        // one of the exit statuses
	Retry      Retry      // whether the same call may succeed later
	Meaning    string     // one sentence for docs/errors.md
	Suggestion Suggestion // what to do next, where the fault has no more specific one
}

// The retry advice of the rows.
var (
	never     = Retry{Kind: NotRetryable}
	immediate = Retry{Kind: RetryableImmediate}
	soon      = Retry{Kind: RetryableAfterMs, AfterMs: 1000}
)

// Table lists every code once. It determines exit statuses, default suggestions, docs/errors.md
// and the schema of errors.
var Table = []Row{
	// Tokens: a token that is not accepted is the caller's error (2), except that its node may
	// be unknown (6) and its session locked (4).
	{TokenInvalidFormat, ExitUsage, never, "A token does not have the form st|ack|chk.v1.<payload>.<signature>.",
		Suggest("Copy the token exactly as the last answer shows it, or use --run.")},
	{TokenUnsupportedVersion, ExitUsage, never, "A token has a version that this binary does not support.",
		Suggest("Get a fresh token with %s, or use the newer binary.", Command{"continue", "--run", "ID"})},
	{TokenBadSignature, ExitUsage, never,
		"A token was not signed with this store's keys: it was changed, or belongs to another store.",
		Suggest("Check --store and --tenant; then get fresh tokens with %s.", Command{"continue", "--run", "ID"})},
	{TokenScopeMismatch, ExitUsage, never,
		"A state token and an ack token belong to different sessions, runs or nodes, or are swapped.",
		Suggest("Send the two tokens of the same answer.")},
	{TokenUnknownNode, ExitNotFound, never, "A token names a node that is not in its session's log.",
		Suggest("Rehydrate with %s and continue from there.", Command{"continue", "--run", "ID"})},
	{TokenWorkflowHashMismatch, ExitUsage, never,
		"A state token names a different workflow from the one that its run is pinned to.",
		Suggest("Get fresh tokens with %s.", Command{"continue", "--run", "ID"})},
	{TokenSessionLocked, ExitBusy, soon, "Another process is writing to the session.",
		Suggest("Send the same call again in a second; if it stays busy, check the process that holds the lock.")},

	// Sessions and runs. RUN_WAITING and RUN_BLOCKED are not failures: the run continues after
	// a person or the agent has acted.
	{SessionLocked, ExitBusy, soon, "Another process is writing to the session.",
		Suggest("Try again in a second, or wait longer with --lock-wait.")},
	{SessionUnhealthy, ExitIntegrity, never,
		"The session's log is damaged, or has events that this binary does not know; nothing may be written to it.",
		Suggest("Run %s to see what is wrong.", Command{"verify", SessionWord})},
	{SessionNotFound, ExitNotFound, never, "The store holds no such session.",
		Suggest("See %s.", Command{"runs", "list"})},
	{RunNotFound, ExitNotFound, never, "The store holds no such run.", Suggest("See %s.", Command{"runs", "list"})},
	{SessionHandedOver, ExitWaiting, never,
		"The session was handed over to another store, and takes no steps here until it comes home or the hand-over is revoked.",
		Suggest("Import the bundle that comes home, or revoke the hand-over with %s.",
			Command{"runs", "take-back", "RUN"})},
	{RunAmbiguous, ExitUsage, never, "The id prefix matches several runs.", Suggest("Give more characters of the id.")},
	{RunBusy, ExitBusy, soon, "Another process performs this run, or has its lease by now.",
		Suggest("Wait for it, or stop it first.")},
	{RunClosed, ExitFailed, never, "The run was cancelled or closed as failed; it takes no further steps.",
		Suggest("Start a new run.")},
	{StartKeyTaken, ExitUsage, never,
		"The start key names a session that was imported, or a run of another workflow; nothing was started.",
		Suggest("Start with another --key.")},
	{RunWaiting, ExitWaiting, never,
		"The run waits for a person (a step, a confirmation or an approval), until a moment, or for the HTTP host.",
		Suggest("Continue with the command shown.")},
	{ForkPointInvalid, ExitUsage, never,
		"The place to fork from does not exist, or no run can begin there.",
		Suggest("See the events of the run with %s.", Command{"runs", "events", "ID"})},
	{RunPaused, ExitWaiting, never, "The run is paused; it takes no steps until it is resumed.",
		Suggest("It is resumed with %s.", Command{"runs", "resume", "RUN"})},
	{DecisionRefused, ExitFailed, never,
		"The decision about a step does not count: the step or its outputs have changed, or this person may not decide.",
		Suggest("See what is waited for with %s.", Command{"runs", "show", "ID"})},
	{RunBlocked, ExitWaiting, never, "The step was not accepted: something required is missing or wrong.",
		Suggest("Fix what the blockers name and try the step again.")},
	{StepFailed, ExitFailed, never, "A command step failed and is not retried.",
		Suggest("Read its output, fix the cause, and continue with %s.", Command{"run", "--run", "ID"})},

	{IdempotencyMismatch, ExitUsage, never, "The idempotency key was used for another request; nothing was done.",
		Suggest("Send another key with another request.")},
	{IdempotencyInFlight, ExitBusy, soon, "A request with the same idempotency key is being answered.",
		Suggest("Send the same request again in a second.")},

	// The store. "immediate" marks faults after which the same call with the same token cannot
	// record anything twice, so repeating it is safe.
	{StoreConflict, ExitBusy, immediate, "The log changed between reading and writing.",
		Suggest("Send the same call again: it reads the new state first.")},
	{StoreOutcomeUnknown, ExitIntegrity, immediate,
		"It is unknown whether a write succeeded: it could be neither completed nor undone.",
		Suggest("Send the same call with the same token again: it is answered from the log if the write succeeded.")},
	{StoreAnswerUnread, ExitIntegrity, immediate, "The call was recorded, but what its answer needs could not be read.",
		Suggest("Send the same call with the same token again: it is answered from the log.")},
	{StoreIO, ExitFailed, immediate, "The operating system refused a read or a write; nothing was recorded.",
		Suggest("Fix the cause and send the same call again.")},
	{StoreFull, ExitFailed, never, "The disk or the quota is full; nothing was recorded.",
		Suggest("Free some space and send the same call again.")},
	{StoreReadOnly, ExitFailed, never, "The store, its filesystem or its features allow no writing.",
		Suggest("Make the directory writable, or choose another one with --store.")},
	{StoreNewer, ExitFailed, never, "The store was written by a newer version that this binary does not understand.",
		Suggest("Use the newer binary; nothing was changed.")},
	{StoreForeign, ExitFailed, never, "The store was written by another program; it can be read, not written.",
		Suggest("Choose a store that Waybill created with --store.")},
	{StoreInvalid, ExitUsage, never, "The path is not a store.",
		Suggest("Choose a Waybill store, or a directory that does not exist yet, with --store.")},
	{StoreNetworkFS, ExitFailed, never, "The store is on a network filesystem, where file locks are not reliable.",
		Suggest("Move the store to a local disk, or pass --allow-network-fs if only one machine uses it.")},
	{StoreCorrupt, ExitIntegrity, never, "A stored file does not match its digest.",
		Suggest("Run %s to see what is damaged.", Command{"verify"})},
	{StoreLocked, ExitBusy, soon, "Another process is cleaning up the store.", Suggest("Try again in a second.")},
	{StoreUnreachable, ExitBusy, soon, "The store is on another machine that cannot be reached; nothing was recorded.",
		Suggest("Check the network and the server; then send the same call again.")},
	{StoreLimit, ExitUsage, never, "An input is larger than the store accepts.",
		Suggest("Send less; keep large data in files and pass their paths.")},
	{KeyringInvalid, ExitIntegrity, never,
		"The keyring is damaged, readable by other users, or missing although tokens need it.",
		Suggest("Restore keys/keyring.json from a backup. Runs are not lost: %s needs no token.",
			Command{"continue", "--run", "ID"})},

	// Bundles: a file that is not a bundle is an input error (2), a bundle that contradicts
	// itself is an integrity error (5). A rejected bundle leaves the store unchanged.
	{BundleInvalidFormat, ExitUsage, never,
		"A file is not a bundle, or has members or values that a bundle cannot have.",
		Suggest("Export the session again; nothing was imported.")},
	{BundleUnsupportedVersion, ExitUsage, never, "A bundle has a version that this binary does not support.",
		Suggest("Use the newer binary that wrote it; nothing was imported.")},
	{BundleIntegrityFailed, ExitIntegrity, never,
		"A bundle's content does not match the digests that it states, or its log is inconsistent.",
		Suggest("It was changed or truncated: get it again. Nothing was imported.")},
	{BundleMissingSnapshot, ExitIntegrity, never, "A bundle lacks a snapshot that its log refers to.",
		Suggest("Export the session again; nothing was imported.")},
	{BundleMissingPinnedWorkflow, ExitIntegrity, never,
		"A bundle lacks the workflow that one of its runs is pinned to.",
		Suggest("Export the session again; nothing was imported.")},
	{BundleEventOrderInvalid, ExitIntegrity, never, "The event indices of a bundle are not contiguous from 0.",
		Suggest("Export the session again; nothing was imported.")},
	{BundleManifestOrderInvalid, ExitIntegrity, never,
		"The manifest indices of a bundle are not contiguous from 0, or the records do not cover its events.",
		Suggest("Export the session again; nothing was imported.")},
	{BundleCollision, ExitFailed, never,
		"The store has another session with the id of a bundle that must keep its ids.",
		Suggest("Import it into another store with --store; nothing was imported.")},
	{SessionDiverged, ExitFailed, never,
		"The session of the store and the one of the bundle continue the events that they share in different ways.",
		Suggest("Import it with --as-new to have both; nothing was imported.")},
	{ArtifactErased, ExitFailed, never, "The bytes of an artifact were erased; only its digest is left.",
		Suggest("See who erased it and why with %s.", Command{"audit", "list"})},
	{ArtifactNotFound, ExitNotFound, never, "No artifact of the store has this digest.",
		Suggest("See the artifacts of a run with %s.", Command{"runs", "events", "RUN"})},
	{SessionKept, ExitFailed, never, "The session is marked as kept, and a kept session is not deleted.",
		Suggest("Remove the mark with %s.", Command{"sessions", "keep", "--off", SessionWord})},
	{HeadMismatch, ExitIntegrity, never, "A session's log does not contain the head that was expected.",
		Suggest("The histories differ: compare them with %s, or check where the head comes from.",
			Command{"bundle", "diff"})},

	// Workflows.
	{WorkflowInvalid, ExitUsage, never, "A workflow file does not validate.",
		Suggest("Fix the problems; %s lists all of them.", Command{"workflows", "validate", "FILE"})},
	{WorkflowNotFound, ExitNotFound, never, "No workflow has this id, and no such file exists.",
		Suggest("See %s.", Command{"workflows", "list"})},
	{TestsNotFound, ExitNotFound, never, "The workflow has no tests.",
		Suggest("Write FILE.test.yaml beside the workflow, or %s.", Command{"workflows", "test", "--from-run", "RUN"})},
	{SourceNotFound, ExitNotFound, never, "No attached folder has this name.",
		Suggest("See %s.", Command{"workflows", "sources"})},
	{WorkflowAmbiguous, ExitUsage, never, "Two sources have a workflow with this id.",
		Suggest("Name the file instead, or rename one of the two.")},
	{WorkflowUntrusted, ExitWaiting, never, "The workflow has command steps, and this version of it is not trusted.",
		Suggest("Read it, then run %s.", Command{"trust", "FILE"})},

	// Interrupts.
	{InterruptNotFound, ExitNotFound, never, "Nothing waits for this answer.",
		Suggest("Read the run: its currentNodeId is the node that waits.")},
	{InterruptResolved, ExitFailed, never, "The interrupt has another answer already; this one was not recorded.",
		Suggest("Read the run: it has continued.")},
	{InterruptExpired, ExitFailed, never, "The time for an answer is over, or the run has ended without one.",
		Suggest("Start a new run.")},
	{InterruptMismatch, ExitUsage, never, "The event is not the one that the run waits for; the run is still suspended.",
		Suggest("Send the event with the members that the interrupt correlates.")},
	{InterruptForbidden, ExitFailed, never, "The caller may not give this answer.",
		Suggest("A person decides with %s at a terminal.", Command{"approve", "RUN"})},

	// Annotations and proposals.
	{CapabilityNotProvided, ExitFailed, never, "The store's configuration disables this group of commands.",
		Suggest("See %s; %s enables a group.", Command{"capabilities"}, Command{"config", "set"})},
	{CapabilityRequired, ExitUsage, never, "The workflow has host steps of a type that this version does not perform.",
		Suggest("%s shows the steps of a workflow.", Command{"workflows", "inspect", "ID"})},
	{AnnotationNotFound, ExitNotFound, never, "The run has no such annotation.",
		Suggest("See %s.", Command{"annotations", "list", "RUN"})},
	{TargetNotFound, ExitNotFound, never,
		"The target of the call does not exist: a node or an event of a run, a bundle, or the store.",
		Suggest("See %s and %s.", Command{"runs", "graph", "RUN"}, Command{"runs", "events", "RUN"})},
	{ProposalNotFound, ExitNotFound, never, "The store has no such proposal.",
		Suggest("See %s.", Command{"proposals", "list"})},
	{ProposalState, ExitFailed, never, "The state of the proposal does not allow this operation.",
		Suggest("See its state with %s.", Command{"proposals", "get", "ID"})},
	{ProposalPending, ExitWaiting, never, "A proposal needs approval by people; nothing was installed.",
		Suggest("A person approves it with %s at a terminal.", Command{"proposals", "approve", "ID"})},
	{ProposalForbidden, ExitFailed, never,
		"The actor does not have the role or the scope that the operation requires; nothing was changed.",
		Suggest("Ask a person who has it; the configuration of the store lists roles.")},
	{ProposalInvalid, ExitFailed, never, "The proposed artifact is not valid for its kind; nothing was installed.",
		Suggest("Fix the problems with %s.", Command{"proposals", "revise", "ID", "FILE"})},
	{ProposalChanged, ExitFailed, never, "The proposal, or what it would replace, changed in the meantime; nothing was recorded.",
		Suggest("Read what it is now with %s, and decide again.", Command{"proposals", "get", "ID"})},
	{PolicyUnconfirmed, ExitIntegrity, never,
		"The settings that decide who may do what are not the ones that a person confirmed; nothing was changed.",
		Suggest("A person reads and confirms them with %s at a terminal.", Command{"config", "confirm"})},
	{PrincipalsUnbound, ExitWaiting, never,
		"More than one approval is required, and no principal is bound to an account; nothing was changed.",
		Suggest(`First give each principal its account, such as {"ada":{"roles":["reviewer"],"uid":1000}}, with %s, `+
			"or require one approval with %s.",
			Command{"config", "set", "principals"}, Command{"config", "set", "proposalsQuorum", "1"})},

	{SignatureRequired, ExitWaiting, never,
		"The operation requires a signature by one of the signers of the store; nothing was changed.",
		Suggest("Sign with --sign, or print what to sign with --payload and hand the signature in with --signature FILE.")},
	{SignatureRefused, ExitWaiting, never,
		"The signature does not count for this operation; nothing was stored.",
		Suggest("Print the bytes to sign with --payload, and sign exactly these.")},

	// Input, the process and Waybill itself. OUTPUT_FAILED is not retryable: the call has taken
	// effect, and repeating it could start a second run.
	{ValidationError, ExitUsage, never, "The input does not have a valid form or size.",
		Suggest("Correct what the message names and send it again.")},
	{UsageError, ExitUsage, never, "The command line is not valid.", Suggest("See --help of the command.")},
	{ConfigInvalid, ExitUsage, never, "The configuration is not valid.",
		Suggest("Correct what the message names with %s.", Command{"config", "set"})},
	{Interrupted, ExitFailed, immediate, "The command was interrupted; what was acknowledged is recorded.",
		Suggest("Continue with %s.", Command{"run", "--run", "ID"})},
	{OutputFailed, ExitFailed, never,
		"The answer could not be written to standard output; the effects of the call are recorded.",
		Suggest("Check %s before you repeat the call.", Command{"runs", "list"})},
	{CommitNotFound, ExitNotFound, never, "The git repository has no such commit, or there is none in the working directory.",
		Suggest("Name a commit of the repository of the working directory, such as HEAD.")},
	{GitFailed, ExitFailed, never, "Git is needed to read a commit, and is not installed, refused or did not answer.",
		Suggest("Check that git is installed and works in the same directory.")},
	{Invariant, ExitIntegrity, never, "The log lacks an event that it must contain; nothing was recorded.",
		Suggest("Run %s.", Command{"verify", SessionWord})},
	{Internal, ExitFailed, never, "An unexpected internal error.",
		Suggest("Run it again with --log-level debug and report what it prints.")},
}

// Lookup returns the row of a code. An unknown code is a bug in Waybill, and returns the row of
// INTERNAL_ERROR.
func Lookup(code Code) Row {
	for _, row := range Table {
		if row.Code == code {
			return row
		}
	}
	return Lookup(Internal)
}

// ExitOf returns the exit status for err: ExitDone for nil, ExitFailed for an error that is not
// a Fault.
func ExitOf(err error) int {
	if err == nil {
		return ExitDone
	}
	return Lookup(CodeOf(err)).Exit
}
