//go:build unix

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// mostShown is how many broken promises of a kind are shown one by one.
const mostShown = 5

// print prints the table, and what is broken.
func print(c *chaos, l *ledger, r result, seed uint64, took time.Duration) {
	line := func(name string, value any) { fmt.Printf("  %-68s %v\n", name, value) }
	rounds := 0
	for _, one := range slices.Concat(losses, ofPatroniOnly) {
		rounds += c.counts[one]
	}
	fmt.Printf("\ntorture of PostgreSQL: seed %d, %d losses of the primary, %s\n", seed, rounds, took.Round(time.Second))
	line("acknowledged", r.counts[acknowledged])
	line("refused: nothing was recorded", r.counts[refused])
	line("unknown", fmt.Sprintf("%d (%d recorded, %d not)", r.counts[unknown], r.unknownRecorded, r.counts[unknown]-r.unknownRecorded))
	line("calls that ended before an append was sent", r.unstarted)
	line("heads confirmed by readers; leases granted; logs", fmt.Sprintf("%d; %d; %d", r.confirmed, len(l.grants), len(l.logs)))
	line("lost: acknowledged or confirmed, and missing", len(r.lost))
	line("doubled: one append twice", len(r.doubled))
	line("appearing unsaid: refused, and recorded", len(r.unsaid))
	line("logs that are not healthy", len(r.unhealthy))
	line("leases granted twice, and appends behind those of a later lease", len(r.lease))
	line("errors that no fault of a server explains", len(r.odd))
	for _, one := range slices.Concat(losses, ofPatroniOnly, []kind{waited, restarted}, minors) {
		if one != none && c.counts[one] > 0 {
			line(string(one), c.counts[one])
		}
	}
	if c.Cluster != nil {
		line("losers that were rewound; that got a copy", fmt.Sprintf("%d; %d", c.rewound, c.copied))
		line("connections terminated and waits cancelled, one by one", c.signals)
	}
	if rounds > 0 {
		line("mean time of a promotion", (c.promoted / time.Duration(rounds)).Round(time.Millisecond))
	}
	var codes []string
	for _, code := range slices.Sorted(maps.Keys(l.codes)) {
		codes = append(codes, fmt.Sprintf("%s %d", code, l.codes[code]))
	}
	line("errors by code", strings.Join(codes, ", "))
	for _, all := range [][]string{r.lost, r.doubled, r.unsaid, r.unhealthy, r.lease, r.odd} {
		for _, text := range all[:min(mostShown, len(all))] {
			fmt.Println("  !", text)
		}
	}
}
