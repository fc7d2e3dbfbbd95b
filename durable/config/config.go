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
)

// lockWaitMsMax is ten minutes: who waits longer has met a process that hangs.
const lockWaitMsMax = 600_000

// Row is what is fixed about a key.
type Row struct {
	Key     Key
	Default canon.Value
	Meaning string
	Want    string // what a value must be, to stand behind "want"
	fits    func(canon.Value) bool
}

// Table lists every key once: it drives get, set, the docs and the tests.
var Table = []Row{
	{AgentMaxAutonomy, canon.OfString(string(event.FullAutoStopOnUserDeps)),
		"The most autonomy that an agent may set on a run through MCP.",
		"guided, full_auto_stop_on_user_deps or full_auto_never_stop", isAutonomy},
	{LockWaitMs, canon.OfInt(2000),
		"How many milliseconds a command waits for another writer, where --lock-wait is not given.",
		"a whole number from 0 to 600000", isWait},
}

func isAutonomy(v canon.Value) bool {
	levels := []event.Autonomy{event.Guided, event.FullAutoStopOnUserDeps, event.FullAutoNeverStop}
	return slices.Contains(levels, event.Autonomy(v.Text()))
}

func isWait(v canon.Value) bool {
	n := v.Float()
	return v.Kind() == canon.Number && n == float64(int64(n)) && n >= 0 && n <= lockWaitMsMax
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
