// Package config is the closed set of what can be configured in a store: each
// key with its default, its meaning and the check of its values. It reads and
// writes no files and applies nothing; whoever is configured asks here.
package config

import (
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
)

// Kind is the control file's kind, and Version the one that this package writes.
const (
	Kind    = "config"
	Version = 1
)

// Key names one thing that can be configured.
type Key string

// The keys.
const (
	AgentMaxAutonomy      Key = "agentMaxAutonomy"
	Feedback              Key = "feedback"
	LockWaitMs            Key = "lockWaitMs"
	Principals            Key = "principals"
	Proposals             Key = "proposals"
	ProposalsActivation   Key = "proposalsActivation"
	ProposalsApproverRole Key = "proposalsApproverRole"
	ProposalsQuorum       Key = "proposalsQuorum"
	RetentionDays         Key = "retentionDays"
	Roles                 Key = "roles"
	TrashDays             Key = "trashDays"
)

// lockWaitMsMax is ten minutes: who waits longer has met a process that hangs.
const lockWaitMsMax = 600_000

// Row is what is fixed about a key.
type Row struct {
	Key     Key
	Default canon.Value
	Meaning string
	Want    string // what a value must be, to stand behind "want"
	// Words are the texts that are allowed; without them a whole number from Least to Most is.
	Words       []string
	Least, Most int64
	// check judges the values of a key that neither words nor numbers describe. What kind
	// of value that is, the default shows.
	check func(canon.Value) bool
}

// Table lists every key once: it drives get, set, the docs and the tests.
var Table = []Row{
	{Key: AgentMaxAutonomy, Default: canon.OfString(string(event.FullAutoStopOnUserDeps)),
		Meaning: "The most autonomy that an agent may set on a run through MCP.",
		Want:    "guided, full_auto_stop_on_user_deps or full_auto_never_stop", Words: autonomies},
	{Key: Feedback, Default: canon.OfString(on),
		Meaning: "Whether runs take annotations; off refuses every command about them.",
		Want:    "on or off", Words: switches},
	{Key: LockWaitMs, Default: canon.OfInt(2000),
		Meaning: "How many milliseconds a command waits for another writer, where --lock-wait is not given.",
		Want:    "a whole number from 0 to 600000", Most: lockWaitMsMax},
	{Key: Principals, Default: canon.OfMembers(),
		Meaning: "Who holds which roles, as --as names them. While nobody is named, the person at a terminal holds " +
			"every role and scope; from then on whoever is not named holds none.",
		Want: `an object of names and their roles, such as {"ada":["reviewer"]}`, check: listsOfWords(isRef)},
	{Key: Proposals, Default: canon.OfString(on),
		Meaning: "Whether the store takes proposals; off refuses every command about them.",
		Want:    "on or off", Words: switches},
	{Key: ProposalsActivation, Default: canon.OfString(ViaApprovalGate),
		Meaning: "What lets a proposal be applied: approval-gate wants people's approval, direct-rbac the scope " +
			"proposals:apply.",
		Want: "approval-gate or direct-rbac", Words: activations},
	{Key: ProposalsApproverRole, Default: canon.OfString("reviewer"),
		Meaning: "The role whose holders approve proposals.",
		Want:    "the name of a role, such as reviewer", check: isWord},
	{Key: ProposalsQuorum, Default: canon.OfInt(1),
		Meaning: "How many different people have to approve a proposal before it can be applied.",
		Want:    "a whole number from 1 to 100", Least: 1, Most: limits.QuorumMax},
	{Key: RetentionDays, Default: canon.OfInt(90),
		Meaning: "After how many days without anything new 'waybill gc --apply' moves a session to the trash; 0 is " +
			"never.",
		Want: "a whole number from 0 to 36500", Most: daysMax},
	{Key: Roles, Default: canon.OfMembers(),
		Meaning: "Which scopes a role has. Asked for are proposals:apply, to apply under direct-rbac, and " +
			"proposals:override, to apply past the approval gate.",
		Want:  `an object of roles and their scopes, such as {"lead":["proposals:override"]}`,
		check: listsOfWords(Word)},
	{Key: TrashDays, Default: canon.OfInt(30),
		Meaning: "After how many days in the trash 'waybill gc --apply' removes a session for good; 0 is never.",
		Want:    "a whole number from 0 to 36500", Most: daysMax},
}

var autonomies = []string{string(event.Guided), string(event.FullAutoStopOnUserDeps), string(event.FullAutoNeverStop)}

func (row Row) fits(v canon.Value) bool {
	switch {
	case row.check != nil:
		return row.check(v)
	case row.Words != nil:
		return v.Kind() == canon.String && slices.Contains(row.Words, v.Text())
	}
	n := v.Float()
	return v.Kind() == canon.Number && n == float64(int64(n)) && n >= float64(row.Least) && n <= float64(row.Most)
}

// Keys lists the names of all keys, in the order of the table.
func Keys() []string {
	out := make([]string, len(Table))
	for i, row := range Table {
		out[i] = string(row.Key)
	}
	return out
}

func lookup(key string) (Row, error) {
	for _, row := range Table {
		if string(row.Key) == key {
			return row, nil
		}
	}
	return Row{}, fault.New(fault.ConfigInvalid, "there is no configuration key %q", key).
		Suggest("The keys are %s.", list(Keys())).With("keys", Keys())
}

func list(words []string) string {
	out := ""
	for i, w := range words {
		switch {
		case i == 0:
		case i == len(words)-1:
			out += " and "
		default:
			out += ", "
		}
		out += w
	}
	return out
}
