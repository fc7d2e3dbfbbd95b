package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestNumbersLast: a negative number is an argument, with the flags before it; the value of a flag, and a line without
// such a number, stay as they are.
func TestNumbersLast(t *testing.T) {
	root := &cobra.Command{Use: "waybill"}
	root.PersistentFlags().Bool("json", false, "")
	root.PersistentFlags().String("store", "", "")
	set := &cobra.Command{Use: "set", Run: func(*cobra.Command, []string) {}}
	set.Flags().IntP("limit", "l", 0, "")
	set.Flags().Bool("yes", false, "")
	root.AddCommand(set)
	for line, want := range map[string]string{
		"set key 4":                    "set key 4",
		"set key -4":                   "set key -- -4",
		"set key -4 --yes":             "set key --yes -- -4",
		"set -4 key --limit 3 --json":  "set --limit 3 --json -- -4 key",
		"set --limit -4 key":           "set --limit -4 key",
		"set -l -4 key":                "set -l -4 key",
		"set --limit=-4 key":           "set --limit=-4 key",
		"set key -1.5e3 -.5 --store -": "set key --store - -- -1.5e3 -.5",
		"set key -4 -- --yes":          "set key -- -4 --yes",
		"set -- key -4":                "set -- key -4",
		"set --bogus -4":               "set --bogus -- -4",
		"set -4x":                      "set -4x",
		"--store a set -4":             "--store a set -- -4",
	} {
		if got := numbersLast(root, strings.Fields(line)); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: %s, want %s", line, strings.Join(got, " "), want)
		}
	}
}
