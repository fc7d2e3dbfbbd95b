// Package store groups what a store records about itself: configuration, trust, import
// marks, retention and the checks of the doctor command.
//
// It holds no events and no knowledge of runs; reading and writing is done by adapters.
package store
