// Command bigstore writes a store with one long session, as no run of a bench could
// grow one in time: files are written as the format says and nothing is synced. What
// it writes passes a full verification without findings.
//
//	go run ./bigstore DIR -events N [-per-segment K]
//
//	go run ./bigstore DIR -sessions N -steps K
//
//	go run ./bigstore 'postgres://…?schema=NAME' -sessions N
//
// Without -per-segment each segment holds the events of one typical append (6 to 8);
// with it, as many whole appends of five events as make K.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/waybill/waybill/ports/porttest/big"
	"github.com/waybill/waybill/testdata/bench/bigdb"
)

func main() {
	events := flag.Int64("events", 100_000, "about how many events the session gets")
	many := flag.Int("sessions", 0, "write so many sessions of one run each instead of one long session")
	steps := flag.Int("steps", 4, "how many steps each of the sessions has")
	per := flag.Int64("per-segment", 0, "about how many events a segment gets; 0: those of one append")
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: bigstore DIR [-events N] [-per-segment K] | DIR -sessions N -steps K | URL -sessions N")
		os.Exit(2)
	}
	dir := os.Args[1]
	_ = flag.CommandLine.Parse(os.Args[2:])
	if strings.Contains(dir, "://") {
		if err := bigdb.Write(context.Background(), dir, *many, runtime.NumCPU()); err != nil {
			fmt.Fprintln(os.Stderr, "bigstore:", err)
			os.Exit(1)
		}
		return
	}
	if *many > 0 {
		if err := big.WriteMany(dir, *many, *steps); err != nil {
			fmt.Fprintln(os.Stderr, "bigstore:", err)
			os.Exit(1)
		}
		fmt.Printf("%d sessions of %d steps\n", *many, *steps)
		return
	}
	w, err := big.Write(dir, *events, *per)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bigstore:", err)
		os.Exit(1)
	}
	fmt.Printf("%s: %d events in %d segments, %d bytes; %d objects\n", w.Session, w.Head.Next, w.Segments, w.Bytes,
		w.Objects)
}
