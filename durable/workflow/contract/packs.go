package contract

import (
	"maps"
	"slices"
	"sync"
)

// The contracts whose artifacts the engine itself reads. Refs are never renamed, because
// workflows refer to them.
const (
	LoopControlRef = "wr.contracts.loop_control"
	CapabilityRef  = "wr.contracts.capability_observation"
	assessmentRef  = "wr.contracts.assessment"
)

// The artifact kinds of these contracts.
const (
	LoopControlKind = "wr.loop_control"
	CapabilityKind  = "wr.capability_observation"
)

// builtin holds all packs by ref. It is built on first use: most commands need no contract.
var builtin = sync.OnceValue(func() map[string]Pack {
	packs := map[string]Pack{}
	for _, p := range []Pack{
		loopControl(), capabilityObservation(), assessment(),
		discoveryHandoff(), shapingHandoff(), codingHandoff(), differentiationHandoff(),
		reviewVerdict(), gateVerdict(), coordinatorSignal(),
	} {
		packs[p.ContractRef] = p
	}
	return packs
})

// Builtin returns the pack with a ref, wr.contracts.*; false for an unknown ref.
func Builtin(ref string) (Pack, bool) {
	p, ok := builtin()[ref]
	return p, ok
}

// Refs returns the refs of all contracts, sorted.
func Refs() []string { return slices.Sorted(maps.Keys(builtin())) }
