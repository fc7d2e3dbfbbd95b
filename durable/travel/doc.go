// Package travel groups what takes a session to another store: bundles and the rewriting
// of a log under new ids or without its secrets.
//
// It holds no decision about what an import replaces; the engine compares and appends.
package travel
