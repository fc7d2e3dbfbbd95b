//go:build unix

package main

import (
	"math/rand/v2"
	"slices"
	"time"
)

// kind is a kind of fault, as the table names it.
type kind string

// The faults that end with another primary.
const (
	killed       kind = "primary killed"
	unreplicated kind = "primary killed while no standby answers and waits are cancelled"
	lagging      kind = "primary killed while one standby is behind"
	frozen       kind = "primary frozen, continued behind the promotion"
	revived      kind = "primary killed, started again beside the new one"
)

// losses are these kinds, in the order of the table.
var losses = []kind{killed, lagging, unreplicated, frozen, revived}

// The faults that leave the primary.
const (
	oneStandby  kind = "one standby stopped"
	allStandbys kind = "all standbys stopped"
	cancelled   kind = "waits for standbys cancelled"
	terminated  kind = "connections terminated"
	none        kind = ""
)

// minors are these kinds.
var minors = []kind{oneStandby, allStandbys, cancelled, terminated, none}

// round is one part of the schedule: perhaps a fault that leaves the primary, and then one that does not.
type round struct {
	minor, loss        kind
	before, between    time.Duration // pauses
	minorMost, lossFor time.Duration // how long the faults last
	killedMinor        bool          // a standby is killed, not frozen; waits are cancelled while the standbys are frozen
	second             bool          // which standby
	copied             bool          // the loser gets a copy of all files, and is not rewound
}

// schedule returns the rounds that a seed selects. Each kind comes equally often: they are cards that are dealt from shuffled decks.
func schedule(seed uint64, rounds int) []round {
	r := rand.New(rand.NewPCG(seed, 0))
	between := func(from, to int) time.Duration { return time.Duration(from+r.IntN(to-from)) * time.Millisecond }
	deal := func(decks ...[]kind) func() kind {
		var cards []kind
		dealt := 0
		return func() kind {
			if len(cards) == 0 {
				cards = slices.Clone(decks[dealt%len(decks)])
				dealt++
				r.Shuffle(len(cards), func(i, j int) { cards[i], cards[j] = cards[j], cards[i] })
			}
			out := cards[0]
			cards = cards[1:]
			return out
		}
	}
	loss := deal([]kind{killed, frozen, revived}, []kind{killed, unreplicated, lagging})
	minor := deal(minors)
	out := make([]round, rounds)
	for i := range out {
		out[i] = round{minor: minor(), loss: loss(), before: between(300, 1500), between: between(0, 800), minorMost: between(500, 1500),
			lossFor: between(1500, 4000), killedMinor: r.IntN(2) == 0, second: r.IntN(2) == 0, copied: r.IntN(4) == 0}
	}
	return out
}
