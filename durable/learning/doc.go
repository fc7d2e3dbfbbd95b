// Package learning groups feedback on runs and reviewed changes derived from it: annotations,
// proposals, installable artifacts, similarity and the capabilities document.
//
// It never changes a run and installs nothing itself; the engine applies approved proposals.
package learning
