package config

import (
	"slices"

	"github.com/waybill/waybill/durable/canon"
)

// Decides reports whether a value of the key decides who may do what.
func (row Row) Decides(v canon.Value) bool {
	return row.Policy || len(row.PolicyWords) > 0 && slices.Contains(row.PolicyWords, v.Text())
}

// IsPolicyChange reports a change of a key, from one configuration to another, that concerns who may do
// what.
func IsPolicyChange(key Key, from, to Config) bool {
	return slices.ContainsFunc(Table, func(row Row) bool {
		return row.Key == key && (row.Decides(from.value(key)) || row.Decides(to.value(key)))
	})
}

// Policy returns the settings that decide who may do what, without those that have their default
// value: an object by key. A store without a configuration has the empty object.
func (c Config) Policy() canon.Value {
	var set []canon.Member
	for _, row := range Table {
		if v := c.value(row.Key); row.Decides(v) && !v.Equal(row.Default) {
			set = append(set, canon.Member{Name: string(row.Key), Value: v})
		}
	}
	return canon.OfMembers(set...)
}

// PolicyDigest is the digest of the canonical bytes of Policy. It identifies the policy that a
// person confirmed (docs/design.md#settings).
func (c Config) PolicyDigest() canon.Digest { return canon.Sum(c.Policy().JCS()) }
