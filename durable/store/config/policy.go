package config

import (
	"slices"

	"github.com/waybill/waybill/durable/canon"
)

// IsPolicy reports a key that decides who may do what.
func IsPolicy(key Key) bool {
	return slices.ContainsFunc(Table, func(row Row) bool { return row.Key == key && row.Policy })
}

// Policy returns the settings that decide who may do what, without those that have their default
// value: an object by key. A store without a configuration has the empty object.
func (c Config) Policy() canon.Value {
	var set []canon.Member
	for _, row := range Table {
		if v := c.value(row.Key); row.Policy && !v.Equal(row.Default) {
			set = append(set, canon.Member{Name: string(row.Key), Value: v})
		}
	}
	return canon.OfMembers(set...)
}

// PolicyDigest is the digest of the canonical bytes of Policy. It identifies the policy that a
// person confirmed (docs/design.md#settings).
func (c Config) PolicyDigest() canon.Digest { return canon.Sum(c.Policy().JCS()) }
