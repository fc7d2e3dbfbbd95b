// Package source parses and validates workflow files in JSON or YAML. Parse returns a Source and all problems of the
// file at once, each with its location (JSON pointer and line), a message and a suggested correction. Schema returns the
// JSON Schema of the format, and Starter and Copy write new workflow files.
//
// The package does not expand templates, resolve references to other workflows or run anything: package compile turns a
// valid Source into the document that a run is pinned to. It performs no I/O; the caller reads the file.
//
// The format is that of published WorkRail workflow files with Waybill's own keys: action, inputs, notesRequired,
// capabilities and a workflow-wide agentRole. Start reading in parse.go. keys_*.go hold the tables of keys and value types,
// from which both the checks and the schema are made; rules*.go and lint.go hold the rules that involve several places.
package source
