package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// modulePath is the module of this command.
const modulePath = "quern.dev"

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of quern",
		Long: `version prints the version of the module quern.dev from which this command was
built, and the Go version. When run as go tool quern, the command is built from
the version that go.mod requires.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), versionLine())
			return err
		},
	}
}

// versionLine returns the output of the command.
func versionLine() string {
	return fmt.Sprintf("quern %s, %s %s/%s", version(debug.ReadBuildInfo()), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// version returns the version of the module, with the commit if the go command
// recorded it.
func version(info *debug.BuildInfo, ok bool) string {
	if !ok {
		return "of unknown version"
	}
	if info.Main.Path != modulePath {
		return "of unknown version"
	}
	text := info.Main.Version
	if r := info.Main.Replace; r != nil { // a tool of a module that replaces it with a directory
		text += " => " + r.Path
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if revision := settings["vcs.revision"]; revision != "" && !strings.Contains(text, revision[:min(12, len(revision))]) {
		text += " " + revision[:min(12, len(revision))]
		if settings["vcs.modified"] == "true" {
			text += ", changed"
		}
	}
	return text
}
