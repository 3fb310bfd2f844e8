//go:build bootstrap

package main

import (
	"context"

	"github.com/spf13/cobra"

	"quern.dev/internal/report"
)

// measureMachine measures nothing: that takes kernels.
func measureMachine(context.Context, *report.Recording) *report.Machine { return nil }

// compiled returns no commands. With the build tag bootstrap, the command builds
// even if the output of quern gen is out of date.
func compiled() []*cobra.Command { return nil }

// compiledBench returns no commands either.
func compiledBench() []*cobra.Command { return nil }

// compiledGeo returns no commands either.
func compiledGeo() []*cobra.Command { return nil }
