//go:build !bootstrap

package main

import "github.com/spf13/cobra"

// compiled returns the commands that need quern gen's own output.
func compiled() []*cobra.Command {
	return []*cobra.Command{ringCommand(), adviseCommand(), analyzeCommand(), validateCommand()}
}

// compiledBench returns those below quern bench.
func compiledBench() []*cobra.Command {
	return []*cobra.Command{benchDeviceCommand(), benchKernelCommand(), benchCompareCommand()}
}

func ringCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ring",
		Short: "Measure actors that run on a device",
		Long: `ring contains the commands for actors, which stay resident on a device and handle
messages (package quern.dev/ring).`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(ringBenchCommand())
	return cmd
}
