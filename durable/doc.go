// Package durable is the root of the pure core. Its direct subpackages are the base that all
// other groups import: canonical JSON, ids, faults, limits, derivations, patterns, problems,
// redaction and reasons.
//
// No package below durable opens a file, reads a clock, draws entropy or logs. Values that
// differ between machines or points in time are arguments (docs/architecture.md).
package durable
