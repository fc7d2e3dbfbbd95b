// Package travel groups the transfer of sessions between stores: bundles, and rewriting a log
// under new ids or without secrets.
//
// It does not decide what an import replaces; the engine compares logs and appends.
package travel
