// Package store groups the packages about a store itself: configuration, trust, import marks,
// retention and the checks of the doctor command.
//
// It holds no events and no knowledge of runs; adapters read and write the files.
package store
