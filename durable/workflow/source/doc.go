// Package source is the source of a workflow as people write it, in JSON or
// YAML: its shape, the rules that bind its parts together, and every problem of a
// file at once, each with its place and what to type instead.
//
// It neither expands nor runs anything; package compile turns a valid Source into
// what a run is pinned to. The shape is that of published WorkRail workflow files
// with Waybill's own keys: action, inputs, notesRequired, capabilities and a
// workflow-wide agentRole.
package source
