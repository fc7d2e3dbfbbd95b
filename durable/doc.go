// Package durable is the root of the pure core. Its direct packages are the ground that
// every other group uses: canonical JSON, ids, faults, limits, derivations, patterns,
// problems, redaction and reasons.
//
// Nothing below durable opens a file, reads a clock, draws entropy or logs; whatever
// differs between machines or moments is an argument (docs/architecture.md).
package durable
