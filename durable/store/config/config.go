// Package config defines the configuration of a store: the closed set of keys, each with its
// default, its meaning and the check of its values.
//
// It reads and writes no files (the caller passes the data of the control file), and applies
// nothing: the packages that are configurable read their values from Config. Start reading at
// Table.
package config

import (
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
)

// Kind and Version are those of the control file config.json that this package writes.
const (
	Kind    = "config"
	Version = 1
)

// Key is the name of one setting.
type Key string

// The keys. They are stored: never renamed.
const (
	AgentMaxAutonomy      Key = "agentMaxAutonomy"
	Autonomy              Key = "autonomy"
	Feedback              Key = "feedback"
	Identity              Key = "identity"
	LockWaitMs            Key = "lockWaitMs"
	Principals            Key = "principals"
	Proposals             Key = "proposals"
	ProposalsActivation   Key = "proposalsActivation"
	ProposalsApproverRole Key = "proposalsApproverRole"
	ProposalsQuorum       Key = "proposalsQuorum"
	RetentionDays         Key = "retentionDays"
	RiskPolicy            Key = "riskPolicy"
	Roles                 Key = "roles"
	Signers               Key = "signers"
	SignersRequire        Key = "signersRequire"
	TrashDays             Key = "trashDays"
)

// lockWaitMsMax is ten minutes: no operation holds a lock longer, unless its process hangs.
const lockWaitMsMax = 600_000

// Row holds the fixed properties of a key.
type Row struct {
	Key     Key
	Default canon.Value
	Meaning string // one or two sentences for help and documentation
	Want    string // the valid values, as a noun phrase for messages
	// Policy marks the settings that decide who may do what (docs/design.md#settings). PolicyWords are
	// values with which a setting does that that does not otherwise.
	Policy      bool
	PolicyWords []string
	// Words are the valid texts. Without Words and form, a whole number from Least to Most is
	// valid.
	Words       []string
	Least, Most int64
	// form checks the values of other keys.
	form func(canon.Value) *mismatch
}

// Table lists every key once. It determines get, set, the documentation and the tests.
var Table = []Row{
	{Key: AgentMaxAutonomy, Policy: true, Default: canon.OfString(string(event.FullAutoStopOnUserDeps)),
		Meaning: "The most autonomy that an agent may set on a run through MCP.",
		Want:    "guided, full_auto_stop_on_user_deps or full_auto_never_stop", Words: autonomies},
	{Key: Autonomy, Default: canon.OfString(string(event.Guided)), PolicyWords: autonomies[2:],
		Meaning: "The autonomy of runs that are started without one; through MCP at most agentMaxAutonomy. " +
			"full_auto_never_stop does not wait for a person, so it is set at a terminal only.",
		Want: "guided, full_auto_stop_on_user_deps or full_auto_never_stop", Words: autonomies},
	{Key: Feedback, Policy: true, Default: canon.OfString(on),
		Meaning: "Whether runs accept annotations; off disables all commands about them.",
		Want:    "on or off", Words: switches},
	{Key: Identity, Default: canon.OfString(""),
		Meaning: "The name that records of this store have for the person or program that makes them, unless --as " +
			"is given; else git's user.name and user.email, else the name of the account. It is a claim, gives no " +
			"role, and never names who approved.",
		Want: "a name of 1 to 128 bytes in one line", form: checkIdentity},
	{Key: LockWaitMs, Default: canon.OfInt(2000),
		Meaning: "How many milliseconds a command waits for another writer, unless --lock-wait is given.",
		Want:    "a whole number from 0 to 600000", Most: lockWaitMsMax},
	{Key: Principals, Policy: true, Default: canon.OfMembers(),
		Meaning: "The roles of each principal, and the account (its numeric id, as id -u prints it) and the SSH " +
			"keys that it is bound to. While none is bound, the person at a terminal has every role and scope; from " +
			"then on a caller has the roles of its account, and all others have none. The name in --as gives no role. " +
			"A list of roles alone binds to nothing.",
		Want: `an object of names, such as {"ada":{"roles":["reviewer"],"uid":1000}}`, form: checkPrincipals},
	{Key: Proposals, Policy: true, Default: canon.OfString(on),
		Meaning: "Whether the store accepts proposals; off disables all commands about them.",
		Want:    "on or off", Words: switches},
	{Key: ProposalsActivation, Policy: true, Default: canon.OfString(ViaApprovalGate),
		Meaning: "What applying a proposal requires: with approval-gate the approval of people, with direct-rbac " +
			"the scope proposals:apply.",
		Want: "approval-gate or direct-rbac", Words: activations},
	{Key: ProposalsApproverRole, Policy: true, Default: canon.OfString("reviewer"),
		Meaning: "The role that is required to approve proposals.",
		Want:    "the name of a role, such as reviewer", form: checkWord},
	{Key: ProposalsQuorum, Policy: true, Default: canon.OfInt(1),
		Meaning: "How many different people have to approve a proposal before it can be applied. More than 1 " +
			"requires principals that are bound.",
		Want: "a whole number from 1 to 100", Least: 1, Most: limits.QuorumMax},
	{Key: RetentionDays, Policy: true, Default: canon.OfInt(90),
		Meaning: "After how many days without new events 'waybill gc --apply' moves a session to the trash; 0 is " +
			"never.",
		Want: "a whole number from 0 to 36500", Most: daysMax},
	{Key: RiskPolicy, Default: canon.OfString(string(event.Conservative)),
		Meaning: "The risk policy of runs that are started without one.",
		Want:    "conservative, balanced or aggressive",
		Words:   []string{string(event.Conservative), string(event.Balanced), string(event.Aggressive)}},
	{Key: Roles, Policy: true, Default: canon.OfMembers(),
		Meaning: "The scopes of each role. The scope proposals:apply permits to apply proposals with direct-rbac, " +
			"proposals:override to apply them without the approvals of approval-gate.",
		Want: `an object of roles and their scopes, such as {"lead":["proposals:override"]}`,
		form: checkRoles},
	{Key: Signers, Policy: true, Default: canon.OfList(),
		Meaning: "The SSH keys whose signatures show the consent of a person. With one, approvals of steps and " +
			"proposals and changes of the settings that decide who may do what count only with a signature; a change of " +
			"this list too. If all keys are lost, nothing is approved in this store any more. @FILE reads a file in the " +
			"form of OpenSSH's allowed_signers.",
		Want: `a list of signers, such as [{"principal":"ada","publicKey":"ssh-ed25519 AAAA…"}], or @FILE`,
		form: checkSigners},
	{Key: SignersRequire, Policy: true, Default: canon.OfString(RequireSignature),
		Meaning: "What a signature has to show: with touch only keys in a security key (sk-…) count, whose owner " +
			"touched it. A key in an agent or in a file without a passphrase signs for each program of the account.",
		Want: "signature or touch", Words: []string{RequireSignature, RequireTouch}},
	{Key: TrashDays, Default: canon.OfInt(30),
		Meaning: "After how many days in the trash 'waybill gc --apply' removes a session for good; 0 is never.",
		Want:    "a whole number from 0 to 36500", Most: daysMax},
}

var autonomies = []string{string(event.Guided), string(event.FullAutoStopOnUserDeps), string(event.FullAutoNeverStop)}

// Keys returns the names of all keys, in the order of the table.
func Keys() []string {
	out := make([]string, len(Table))
	for i, row := range Table {
		out[i] = string(row.Key)
	}
	return out
}

// Words returns the valid values of a key, none for a key whose values are no closed set.
func Words(key Key) []string {
	row, _ := lookup(string(key))
	return row.Words
}

// lookup returns the row of a key, and CONFIG_INVALID with the list of keys for an unknown one.
func lookup(key string) (Row, error) {
	for _, row := range Table {
		if string(row.Key) == key {
			return row, nil
		}
	}
	keys, last := Keys(), len(Table)-1
	return Row{}, fault.New(fault.ConfigInvalid, "unknown configuration key %q", key).
		Suggest("The keys are %s and %s.", strings.Join(keys[:last], ", "), keys[last]).With("keys", keys)
}
