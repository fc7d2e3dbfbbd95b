// Package learning groups feedback on runs and what is derived from it: annotations,
// proposals, installable artifacts, similarity and capabilities.
//
// It never changes a run and installs nothing itself; the engine applies what was approved.
package learning
