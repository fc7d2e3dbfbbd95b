// Package log groups the packages that define the contents of a log and how its records are
// chained: event kinds (event), manifest records (manifest) and audit records (audit).
//
// It holds no folds over a log (see projections) and no I/O (see infra).
package log
