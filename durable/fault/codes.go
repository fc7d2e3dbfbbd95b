package fault

// Code is a member of the closed set of error codes. Codes are words and for ever.
type Code string

// Token faults: a caller's handle is not usable (locks section 1.2).
const (
	TokenInvalidFormat        Code = "TOKEN_INVALID_FORMAT"
	TokenUnsupportedVersion   Code = "TOKEN_UNSUPPORTED_VERSION"
	TokenBadSignature         Code = "TOKEN_BAD_SIGNATURE"
	TokenScopeMismatch        Code = "TOKEN_SCOPE_MISMATCH"
	TokenUnknownNode          Code = "TOKEN_UNKNOWN_NODE"
	TokenWorkflowHashMismatch Code = "TOKEN_WORKFLOW_HASH_MISMATCH"
	TokenSessionLocked        Code = "TOKEN_SESSION_LOCKED"
)

// Session and run faults.
const (
	SessionLocked    Code = "SESSION_LOCKED"
	SessionUnhealthy Code = "SESSION_UNHEALTHY"
	SessionNotFound  Code = "SESSION_NOT_FOUND"
	RunNotFound      Code = "RUN_NOT_FOUND"
	RunAmbiguous     Code = "RUN_AMBIGUOUS"
	RunBusy          Code = "RUN_BUSY"
	RunClosed        Code = "RUN_CLOSED"
	RunWaiting       Code = "RUN_WAITING"
	RunBlocked       Code = "RUN_BLOCKED"
	StepFailed       Code = "STEP_FAILED"
)

// Store faults.
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
	KeyringInvalid      Code = "KEYRING_INVALID"
)

// Bundle faults (locks section 1.3), with two of ours: an artifact whose bytes are
// gone, and ids that are taken.
const (
	BundleInvalidFormat         Code = "BUNDLE_INVALID_FORMAT"
	BundleUnsupportedVersion    Code = "BUNDLE_UNSUPPORTED_VERSION"
	BundleIntegrityFailed       Code = "BUNDLE_INTEGRITY_FAILED"
	BundleMissingSnapshot       Code = "BUNDLE_MISSING_SNAPSHOT"
	BundleMissingPinnedWorkflow Code = "BUNDLE_MISSING_PINNED_WORKFLOW"
	BundleEventOrderInvalid     Code = "BUNDLE_EVENT_ORDER_INVALID"
	BundleManifestOrderInvalid  Code = "BUNDLE_MANIFEST_ORDER_INVALID"
	BundleCollision             Code = "BUNDLE_COLLISION"
	ArtifactErased              Code = "ARTIFACT_ERASED"
	ArtifactNotFound            Code = "ARTIFACT_NOT_FOUND"
	SessionKept                 Code = "SESSION_KEPT"
	HeadMismatch                Code = "HEAD_MISMATCH"
)

// Workflow faults.
const (
	WorkflowInvalid   Code = "WORKFLOW_INVALID"
	WorkflowNotFound  Code = "WORKFLOW_NOT_FOUND"
	WorkflowAmbiguous Code = "WORKFLOW_AMBIGUOUS"
	WorkflowUntrusted Code = "WORKFLOW_UNTRUSTED"
)

// Faults of feedback and learning (RFC 0056, RFC 0096): 501, 403 and 422 on the wire
// are the capability, the missing role and the unsound artifact here.
const (
	CapabilityNotProvided Code = "CAPABILITY_NOT_PROVIDED"
	AnnotationNotFound    Code = "ANNOTATION_NOT_FOUND"
	TargetNotFound        Code = "TARGET_NOT_FOUND"
	ProposalNotFound      Code = "PROPOSAL_NOT_FOUND"
	ProposalState         Code = "PROPOSAL_STATE"
	ProposalPending       Code = "PROPOSAL_PENDING"
	ProposalForbidden     Code = "PROPOSAL_FORBIDDEN"
	ProposalInvalid       Code = "PROPOSAL_INVALID"
	ProposalChanged       Code = "PROPOSAL_CHANGED"
)

// Faults of what the caller sent, and of ourselves.
const (
	ValidationError Code = "VALIDATION_ERROR"
	UsageError      Code = "USAGE_ERROR"
	ConfigInvalid   Code = "CONFIG_INVALID"
	Interrupted     Code = "INTERRUPTED"
	OutputFailed    Code = "OUTPUT_FAILED"
	Invariant       Code = "INVARIANT_VIOLATION"
	Internal        Code = "INTERNAL_ERROR"
)

// Exit statuses (design section 8).
const (
	ExitDone      = 0
	ExitFailed    = 1
	ExitUsage     = 2
	ExitWaiting   = 3
	ExitBusy      = 4
	ExitIntegrity = 5
	ExitNotFound  = 6
)

// Row is what is fixed about a code.
type Row struct {
	Code       Code
	Exit       int
	Retry      Retry
	Meaning    string // for docs/errors.md
	Suggestion string // shown when the place of the fault knows no better one
}

var (
	never     = Retry{Kind: NotRetryable}
	immediate = Retry{Kind: RetryableImmediate}
	soon      = Retry{Kind: RetryableAfterMs, AfterMs: 1000}
)

// Table lists every code once: it drives exit statuses, docs/errors.md and tests.
var Table = []Row{
	{TokenInvalidFormat, ExitUsage, never, "A token is not of the form st|ack|chk.v1.<payload>.<signature>.",
		"Copy the token exactly as the last answer gave it, or use --run."},
	{TokenUnsupportedVersion, ExitUsage, never, "A token is of a version that this binary does not know.",
		"Ask for a fresh token with 'waybill continue --run ID', or use the newer binary."},
	{TokenBadSignature, ExitUsage, never,
		"A token was not signed by this store's keys: changed on the way, or of another store.",
		"Check --store and --tenant; then ask for fresh tokens with 'waybill continue --run ID'."},
	{TokenScopeMismatch, ExitUsage, never,
		"A state and an ack token belong to different sessions, runs or nodes, or one stands in the other's place.",
		"Send the two tokens of one and the same answer."},
	{TokenUnknownNode, ExitNotFound, never, "A token names a node that its session's log does not hold.",
		"Rehydrate with 'waybill continue --run ID' and go on from there."},
	{TokenWorkflowHashMismatch, ExitUsage, never,
		"A state token names another workflow than the one its run is pinned to.",
		"Ask for fresh tokens with 'waybill continue --run ID'."},
	{TokenSessionLocked, ExitBusy, soon, "Another process is writing to the session.",
		"Send the same call again in a second; if it stays busy, look at the process that holds the lock."},

	{SessionLocked, ExitBusy, soon, "Another process is writing to the session.",
		"Try again in a second, or wait longer with --lock-wait."},
	{SessionUnhealthy, ExitIntegrity, never,
		"The session's log is damaged, or holds facts that this binary does not know; nothing may be written to it.",
		"Run 'waybill verify SESSION' to see what is wrong."},
	{SessionNotFound, ExitNotFound, never, "The store holds no such session.", "See 'waybill runs list'."},
	{RunNotFound, ExitNotFound, never, "The store holds no such run.", "See 'waybill runs list'."},
	{RunAmbiguous, ExitUsage, never, "A prefix fits several runs.", "Give more characters of the id."},
	{RunBusy, ExitBusy, soon, "Another 'waybill run' carries out this run.", "Wait for it, or stop it first."},
	{RunClosed, ExitFailed, never, "The run was cancelled or closed as failed; it takes no further steps.",
		"Start a new run."},
	{RunWaiting, ExitWaiting, never, "The run waits for a person: a step, a confirmation or an approval.",
		"Go on with the command shown."},
	{RunBlocked, ExitWaiting, never, "The step was not accepted: something required is missing or wrong.",
		"Fix what the blockers name and try the step again."},
	{StepFailed, ExitFailed, never, "A command step failed for good.",
		"Look at its output, mend the cause, and go on with 'waybill run --run ID'."},

	{StoreConflict, ExitBusy, immediate, "The log moved between reading and writing.",
		"Send the same call again: it reads the new state first."},
	{StoreOutcomeUnknown, ExitIntegrity, immediate, "A write could neither be completed nor taken back for certain.",
		"Send the same call with the same token again: the log decides."},
	{StoreAnswerUnread, ExitIntegrity, immediate, "The call was recorded, but what its answer needs could not be read.",
		"Send the same call with the same token again: it is answered from the log."},
	{StoreIO, ExitFailed, immediate, "The operating system refused a read or a write; nothing was recorded.",
		"Mend the cause and send the same call again."},
	{StoreFull, ExitFailed, never, "The disk or the quota is full; nothing was recorded.",
		"Free some space and send the same call again."},
	{StoreReadOnly, ExitFailed, never, "The store, its filesystem or its features allow no writing.",
		"Make the folder writable, or name another one with --store."},
	{StoreNewer, ExitFailed, never, "The store was written by a newer version that this binary does not understand.",
		"Use the newer binary; nothing was touched."},
	{StoreForeign, ExitFailed, never, "The store was written by another program; it can be read, not written.",
		"Name a store of Waybill's own with --store."},
	{StoreInvalid, ExitUsage, never, "The path names something that is no store.",
		"Name a folder of Waybill's own, or one that does not exist yet, with --store."},
	{StoreNetworkFS, ExitFailed, never, "The store lies on a network filesystem, where locks are not safe.",
		"Move the store to a local disk, or pass --allow-network-fs if one machine alone uses it."},
	{StoreCorrupt, ExitIntegrity, never, "A stored file does not match its digest.",
		"Run 'waybill verify' to see what is damaged."},
	{StoreLocked, ExitBusy, soon, "Another process is cleaning up the store.", "Try again in a second."},
	{StoreLimit, ExitUsage, never, "Something is larger than the store accepts.",
		"Send less; keep large things in files and pass their paths."},
	{KeyringInvalid, ExitIntegrity, never, "The keyring is missing where tokens need it, damaged or open to others.",
		"Restore keys/keyring.json from a backup; runs themselves are not lost: 'waybill continue --run ID' needs no " +
			"token."},

	{BundleInvalidFormat, ExitUsage, never,
		"A file is no bundle, or one with members or values that a bundle does not have.",
		"Export the session again; nothing was imported."},
	{BundleUnsupportedVersion, ExitUsage, never, "A bundle is of a version that this binary does not know.",
		"Use the newer binary that wrote it; nothing was imported."},
	{BundleIntegrityFailed, ExitIntegrity, never,
		"A bundle's content does not have the digests that it states, or its log does not hold together.",
		"It was changed or cut off on its way: get it again. Nothing was imported."},
	{BundleMissingSnapshot, ExitIntegrity, never, "A bundle lacks a snapshot that its log refers to.",
		"Export the session again; nothing was imported."},
	{BundleMissingPinnedWorkflow, ExitIntegrity, never,
		"A bundle lacks the workflow that one of its runs is pinned to.",
		"Export the session again; nothing was imported."},
	{BundleEventOrderInvalid, ExitIntegrity, never, "The events of a bundle do not follow each other from 0 on.",
		"Export the session again; nothing was imported."},
	{BundleManifestOrderInvalid, ExitIntegrity, never,
		"The manifest records of a bundle do not follow each other from 0 on, or do not cover its events.",
		"Export the session again; nothing was imported."},
	{BundleCollision, ExitFailed, never,
		"The store holds another session under the id of a bundle that must keep its ids.",
		"Import it into another store with --store; nothing was imported."},
	{ArtifactErased, ExitFailed, never, "The bytes of an artifact were erased; only its digest is left.",
		"See who erased it and why with 'waybill audit list'."},
	{ArtifactNotFound, ExitNotFound, never, "No artifact of the store has this digest.",
		"See the artifacts of a run with 'waybill runs events RUN'."},
	{SessionKept, ExitFailed, never, "The session is kept: it is not deleted before that is taken back.",
		"Take it back with 'waybill sessions keep --off SESSION'."},
	{HeadMismatch, ExitIntegrity, never, "A session's log does not contain the head that was expected.",
		"It is another history: compare the two with 'waybill bundle diff', or ask whoever gave you the head."},

	{WorkflowInvalid, ExitUsage, never, "A workflow file does not validate.",
		"Mend what the problems name; 'waybill workflows validate FILE' shows all of them."},
	{WorkflowNotFound, ExitNotFound, never, "No workflow has this id, and no such file is there.",
		"See 'waybill workflows list'."},
	{WorkflowAmbiguous, ExitUsage, never, "Two sources hold a workflow with this id.",
		"Name the file instead, or rename one of the two."},
	{WorkflowUntrusted, ExitWaiting, never, "The workflow has command steps and nobody has trusted this version of it.",
		"Read it, then 'waybill trust FILE'."},

	{CapabilityNotProvided, ExitFailed, never, "The store's configuration turns this family of commands off.",
		"See 'waybill capabilities'; 'waybill config set' turns a family on."},
	{AnnotationNotFound, ExitNotFound, never, "The run has no such annotation.", "See 'waybill annotations list RUN'."},
	{TargetNotFound, ExitNotFound, never,
		"What the call is about is not there: a node or an event of a run, or the store itself.",
		"See 'waybill runs graph RUN' and 'waybill runs events RUN'."},
	{ProposalNotFound, ExitNotFound, never, "There is no such proposal here.", "See 'waybill proposals list'."},
	{ProposalState, ExitFailed, never, "A proposal is in a state from which this is not possible.",
		"See where it stands with 'waybill proposals get ID'."},
	{ProposalPending, ExitWaiting, never, "A proposal waits for people's approval; nothing was installed.",
		"A person approves it with 'waybill proposals approve ID' at a terminal."},
	{ProposalForbidden, ExitFailed, never,
		"Whoever asks does not have the role or the scope that this takes; nothing was changed.",
		"Ask somebody who has it; roles stand in the store's configuration."},
	{ProposalInvalid, ExitFailed, never, "The proposed artifact is not sound for its kind; nothing was installed.",
		"Mend what is named with 'waybill proposals revise ID FILE'."},
	{ProposalChanged, ExitFailed, never, "The proposal was revised while it was looked at; nothing was recorded.",
		"Look at the new revision with 'waybill proposals get ID', and decide again."},

	{ValidationError, ExitUsage, never, "What was sent does not have the right shape or size.",
		"Correct what the message names and send it again."},
	{UsageError, ExitUsage, never, "The command line is not right.", "See --help of the command."},
	{ConfigInvalid, ExitUsage, never, "The configuration does not have the right shape.",
		"Correct what the message names with 'waybill config set'."},
	{Interrupted, ExitFailed, immediate, "The command was interrupted; what was acknowledged is recorded.",
		"Go on with 'waybill run --run ID'."},
	{OutputFailed, ExitFailed, never,
		"The answer could not be written to standard output. What the call did is recorded all the same.",
		"See 'waybill runs list' before you make the call again."},
	{Invariant, ExitIntegrity, never, "The log lacks a fact that it must hold; nothing was recorded.",
		"Run 'waybill verify SESSION'."},
	{Internal, ExitFailed, never, "An error that Waybill did not foresee.",
		"Run it again with --log-level debug and report what it prints."},
}

// Lookup is the row of a code; an unknown code is a bug of ours and reads as INTERNAL_ERROR.
func Lookup(code Code) Row {
	for _, row := range Table {
		if row.Code == code {
			return row
		}
	}
	return Lookup(Internal)
}

// ExitOf is the exit status for err: 0 for nil.
func ExitOf(err error) int {
	if err == nil {
		return ExitDone
	}
	return Lookup(CodeOf(err)).Exit
}
