// Package log groups what is written and how it is chained: event kinds, manifest
// records and audit records.
//
// It holds no folds over a log (package projections) and no I/O (package infra).
package log
