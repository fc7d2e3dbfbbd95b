// Package run groups the decisions about one run: snapshots, the interpreter, plans for
// attempts, prompts, command records, tokens, re-execution and ranking.
//
// Every decision is a plain function of its arguments; nothing here appends to a log.
package run
