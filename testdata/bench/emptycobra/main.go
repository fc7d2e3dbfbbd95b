// Command emptycobra is the least that a command line of this kind costs.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

func main() {
	root := &cobra.Command{Use: "emptycobra"}
	root.AddCommand(&cobra.Command{Use: "version", Run: func(*cobra.Command, []string) { fmt.Println("0") }})
	if root.Execute() != nil {
		os.Exit(1)
	}
}
