// Package workflow groups the path of a workflow file from its text to the compiled,
// pinned document: parsing, validation, conditions, contracts, expansion, discovery.
//
// It holds nothing about runs: the compiled document is the only thing a run sees.
package workflow
