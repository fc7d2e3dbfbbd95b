package engine_test

import "flag"

// exhaustive tries every fault, crash state and changed byte there is, which takes a
// quarter of an hour: 'make exhaustive'. Without it the tests of what stands beside a
// session's own log try one in so many, evenly spread, and the same ones each time.
var exhaustive = flag.Bool("exhaustive", false, "try every fault, crash state and changed byte")

// passed reports what is left out without -exhaustive: all but one in so many.
func passed(n, one int) bool { return !*exhaustive && n%one > 0 }

// sideLimit is crashLimit for what stands beside a session's own log: each state costs
// several readings and another call.
func sideLimit() int {
	if *exhaustive {
		return crashLimit() / 8
	}
	return max(crashLimit()/48, 1)
}
