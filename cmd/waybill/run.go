package main

import (
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/fault"
)

// newRunCommand is a placeholder until package perform is wired.
func newRunCommand(_ *app) *cobra.Command {
	return &cobra.Command{Use: "run FILE|ID", Short: "Carry out a workflow", GroupID: groupWork,
		RunE: func(*cobra.Command, []string) error { return fault.New(fault.Internal, "run is not wired yet") }}
}
