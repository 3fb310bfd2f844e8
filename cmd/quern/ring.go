//go:build !bootstrap

package main

import "github.com/spf13/cobra"

// compiled returns the commands that are made with quern gen's own output.
func compiled() []*cobra.Command { return []*cobra.Command{ringCommand()} }

func ringCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ring",
		Short: "Measure actors that stay resident on a device",
		Long: `ring is about actors: handlers that stay resident on a device and answer
messages (package quern.dev/ring).`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(ringBenchCommand())
	return cmd
}
