//go:build !unix

package main

import "fmt"

func main() { fmt.Println("torture: skipped, no PostgreSQL server is started on this system") }
