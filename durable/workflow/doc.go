// Package workflow groups the packages that turn a workflow file into the compiled, pinned
// document of a run: parsing and validation (source, yaml, shape), conditions, validation
// criteria and contracts, expansion (compile) and the list of available files (catalog).
//
// None of them knows about runs, performs I/O or reads a clock. A run depends on the
// compiled document only.
package workflow
