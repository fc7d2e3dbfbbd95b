package main

import (
	"regexp"
	"sync"
)

// expression returns a regular expression that its first use compiles. The program under test is the binary of the
// tests: what is made when it starts is made in each of the thousands of processes that the tests start.
func expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
