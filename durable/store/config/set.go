package config

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
)

// Config is the configuration of a store: the values that were set, and the defaults for all
// other keys. The zero Config has nothing set. A Config is immutable.
type Config struct {
	set canon.Value // an object, or null
}

// Setting is one key in the document "config".
type Setting struct {
	Key     Key         `json:"key"`
	Value   canon.Value `json:"value"`
	Set     bool        `json:"set"` // false: the default
	Meaning string      `json:"meaning"`
}

// Read returns the configuration of stored data; null is the empty one. Unknown keys, of a newer
// version, are kept and have no effect. A value that is not valid for its key is CONFIG_INVALID:
// continuing with the default could permit an agent more than the user wanted.
func Read(data canon.Value) (Config, error) {
	if !data.IsNull() && data.Kind() != canon.Object {
		return Config{}, fault.New(fault.ConfigInvalid, "the configuration is of type %s, want an object", data.Kind())
	}
	for _, row := range Table {
		if v, ok := data.Get(string(row.Key)); ok {
			if m := row.check(v); m != nil {
				return Config{}, row.refuse(m)
			}
		}
	}
	return Config{set: data}, nil
}

// refuse returns CONFIG_INVALID for a value that is not valid for the key: where, what is expected
// and what came.
func (row Row) refuse(m *mismatch) error {
	at := string(row.Key)
	if m.at != "" {
		at += "/" + m.at
	}
	return fault.New(fault.ConfigInvalid, "%s: expected %s, got %s", at, m.want, m.got).Suggest("Give %s.", row.Want).
		With("field", at).With("expected", m.want).With("got", m.got)
}

// Data returns the data of the control file for c.
func (c Config) Data() canon.Value {
	if c.set.IsNull() {
		return canon.OfMembers()
	}
	return c.set
}

// Get returns one setting by its key. An unknown key is CONFIG_INVALID.
func (c Config) Get(key string) (Setting, error) {
	row, err := lookup(key)
	if err != nil {
		return Setting{}, err
	}
	if v, ok := c.set.Get(key); ok {
		return Setting{row.Key, v, true, row.Meaning}, nil
	}
	return Setting{row.Key, row.Default, false, row.Meaning}, nil
}

// All returns every setting, in the order of the table.
func (c Config) All() []Setting {
	var out []Setting
	for _, key := range Keys() {
		s, _ := c.Get(key) // the table's own keys are known
		out = append(out, s)
	}
	return out
}

// With returns c with a key set to text as a user types it: a JSON value where text parses as
// JSON, else the string. An unknown key and an invalid value are CONFIG_INVALID.
func (c Config) With(key, text string) (Config, error) {
	row, err := lookup(key)
	if err != nil {
		return c, err
	}
	v, err := canon.Parse([]byte(text))
	if err != nil {
		v = canon.OfString(text)
	}
	if m := row.check(v); m != nil {
		return c, row.refuse(m)
	}
	return Config{set: c.Data().With(key, v)}, nil
}

// Without returns c with a key reset to its default. An unknown key is CONFIG_INVALID.
func (c Config) Without(key string) (Config, error) {
	if _, err := lookup(key); err != nil {
		return c, err
	}
	return Config{set: c.Data().Without(key)}, nil
}

// value returns the value of a key of the table.
//
//go:noinline
func (c Config) value(key Key) canon.Value {
	s, _ := c.Get(string(key))
	return s.Value
}

// AgentMaxAutonomy returns the maximum autonomy that an agent may set through MCP
// (docs/design.md#preferences).
func (c Config) AgentMaxAutonomy() event.Autonomy {
	return event.Autonomy(c.value(AgentMaxAutonomy).Text())
}

// Preferences returns the preferences of runs that are started without any. The autonomy of a run that
// an agent starts through MCP is at most the one that it may set.
func (c Config) Preferences(byAgent bool) event.Preferences {
	p := event.Preferences{Autonomy: event.Autonomy(c.value(Autonomy).Text()),
		RiskPolicy: event.RiskPolicy(c.value(RiskPolicy).Text())}
	if byAgent && c.CheckAgentAutonomy(p.Autonomy) != nil {
		p.Autonomy = c.AgentMaxAutonomy()
	}
	return p
}

// LockWaitMs returns how many milliseconds a writer waits for another one.
func (c Config) LockWaitMs() int64 { return int64(c.value(LockWaitMs).Float()) }
