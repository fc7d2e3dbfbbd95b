package config

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
)

// Config is the configuration of a store: what was set, over the defaults. The
// zero Config has nothing set.
type Config struct {
	set canon.Value // an object, or null
}

// Setting is one key as people see it.
type Setting struct {
	Key     Key         `json:"key"`
	Value   canon.Value `json:"value"`
	Set     bool        `json:"set"` // false: the default
	Meaning string      `json:"meaning"`
}

// Read takes over stored data. Keys of a newer version are kept and passed over;
// a value that its key does not allow is CONFIG_INVALID, since going on with the
// default could allow an agent more than a person wanted.
func Read(data canon.Value) (Config, error) {
	if !data.IsNull() && data.Kind() != canon.Object {
		return Config{}, fault.New(fault.ConfigInvalid, "the configuration is of type %s, want an object", data.Kind())
	}
	for _, row := range Table {
		if v, ok := data.Get(string(row.Key)); ok && !row.fits(v) {
			return Config{}, row.refuse(string(v.JCS()))
		}
	}
	return Config{set: data}, nil
}

func (row Row) refuse(got string) error {
	return fault.New(fault.ConfigInvalid, "%s cannot be %s", row.Key, got).Suggest("Give %s.", row.Want)
}

// Data is what is stored for c.
func (c Config) Data() canon.Value {
	if c.set.IsNull() {
		return canon.OfMembers()
	}
	return c.set
}

// Get is one setting by its name; an unknown key is CONFIG_INVALID.
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

// All is every setting, in the order of the table.
func (c Config) All() []Setting {
	var out []Setting
	for _, key := range Keys() {
		s, _ := c.Get(key) // the table's own keys are known
		out = append(out, s)
	}
	return out
}

// With is c with a key set to what a person typed: JSON where it parses, else a
// string.
func (c Config) With(key, text string) (Config, error) {
	row, err := lookup(key)
	if err != nil {
		return c, err
	}
	v, err := canon.Parse([]byte(text))
	if err != nil {
		v = canon.OfString(text)
	}
	if !row.fits(v) {
		return c, row.refuse(text)
	}
	return Config{set: c.Data().With(key, v)}, nil
}

// Without is c with a key back at its default.
func (c Config) Without(key string) (Config, error) {
	if _, err := lookup(key); err != nil {
		return c, err
	}
	return Config{set: c.Data().Without(key)}, nil
}

func (c Config) value(key Key) canon.Value {
	s, _ := c.Get(string(key))
	return s.Value
}

// AgentMaxAutonomy is the most that an agent may set through MCP (R20).
func (c Config) AgentMaxAutonomy() event.Autonomy {
	return event.Autonomy(c.value(AgentMaxAutonomy).Text())
}

// LockWaitMs is how long a writer waits for another one.
func (c Config) LockWaitMs() int64 { return int64(c.value(LockWaitMs).Float()) }
