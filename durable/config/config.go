// Package config is the closed set of what can be configured in a store: each
// key with its default, its meaning and the check of its values. It reads and
// writes no files and applies nothing; whoever is configured asks here.
package config

import (
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/event"
	"github.com/waybill/waybill/durable/fault"
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
	AgentMaxAutonomy Key = "agentMaxAutonomy"
	LockWaitMs       Key = "lockWaitMs"
	RetentionDays    Key = "retentionDays"
	TrashDays        Key = "trashDays"
)

// lockWaitMsMax is ten minutes: who waits longer has met a process that hangs.
const lockWaitMsMax = 600_000

// Row is what is fixed about a key.
type Row struct {
	Key     Key
	Default canon.Value
	Meaning string
	Want    string // what a value must be, to stand behind "want"
	// Words are the texts that are allowed; without them a whole number from 0 to Most is.
	Words []string
	Most  int64
}

// Table lists every key once: it drives get, set, the docs and the tests.
var Table = []Row{
	{AgentMaxAutonomy, canon.OfString(string(event.FullAutoStopOnUserDeps)),
		"The most autonomy that an agent may set on a run through MCP.",
		"guided, full_auto_stop_on_user_deps or full_auto_never_stop", autonomies, 0},
	{LockWaitMs, canon.OfInt(2000),
		"How many milliseconds a command waits for another writer, where --lock-wait is not given.",
		"a whole number from 0 to 600000", nil, lockWaitMsMax},
	{RetentionDays, canon.OfInt(90),
		"After how many days without anything new 'waybill gc --apply' moves a session to the trash; 0 is never.",
		"a whole number from 0 to 36500", nil, daysMax},
	{TrashDays, canon.OfInt(30),
		"After how many days in the trash 'waybill gc --apply' removes a session for good; 0 is never.",
		"a whole number from 0 to 36500", nil, daysMax},
}

var autonomies = []string{string(event.Guided), string(event.FullAutoStopOnUserDeps), string(event.FullAutoNeverStop)}

func (row Row) fits(v canon.Value) bool {
	if row.Words != nil {
		return v.Kind() == canon.String && slices.Contains(row.Words, v.Text())
	}
	n := v.Float()
	return v.Kind() == canon.Number && n == float64(int64(n)) && n >= 0 && n <= float64(row.Most)
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
