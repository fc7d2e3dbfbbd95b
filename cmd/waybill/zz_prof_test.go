package main

import (
	"os"
	"strings"
	"testing"
)

func TestZZProf(t *testing.T) {
	f, _ := os.Create("/tmp/q/big/prof.html")
	run([]string{"runs", "report", "-o", "-", "--store", "/tmp/q/big/store/local"}, strings.NewReader(""), f, os.Stderr, os.Environ())
}
