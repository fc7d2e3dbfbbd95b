//go:build !unix

package pgstore_test

// removed returns the code of the tests of the package.
func removed(code int) int { return code }
