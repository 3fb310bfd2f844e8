package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

const completionHelp = `completion prints a completion script for quern. Load it when the shell starts:

  bash        source <(quern completion bash)         in ~/.bashrc
  zsh         source <(quern completion zsh)          in ~/.zshrc, after compinit
  fish        quern completion fish | source          in ~/.config/fish/config.fish
  powershell  quern completion powershell | Out-String | Invoke-Expression   in $PROFILE

If quern is not installed but a tool of your module, write the script to a file
once, in the module, and load that file when the shell starts:

  go tool quern completion bash > ~/.quern.bash       and source ~/.quern.bash

The script defines a function quern that runs go tool quern in the current
module, and completes it. In bash it also completes go tool quern.`

// functions define quern where no program of that name is installed.
var functions = map[string]string{
	"bash": `command -v quern >/dev/null || quern() { command go tool quern "$@"; }
`,
	"zsh": `(( $+commands[quern] )) || quern() { command go tool quern "$@" }
`,
	"fish": `type -q quern; or function quern; command go tool quern $argv; end
`,
	"powershell": `if (-not (Get-Command quern -ErrorAction SilentlyContinue)) { function global:quern { go tool quern @args } }
`,
}

// goTool completes go tool quern in bash like quern. Completion of other go
// commands is unchanged.
const goTool = `
if [[ $(complete -p go 2>/dev/null) != *__quern_go* ]]; then
    __quern_go_before=$(complete -p go 2>/dev/null | sed -n 's/.* -F \([^ ]*\) .*/\1/p')
fi
__quern_go()
{
    if [[ $COMP_CWORD -gt 2 && ${COMP_WORDS[1]} == tool && ${COMP_WORDS[2]} == quern ]]; then
        local rest=${COMP_LINE#*quern}
        COMP_POINT=$((COMP_POINT - ${#COMP_LINE} + ${#rest} + 5))
        COMP_LINE="quern$rest"
        COMP_WORDS=(quern "${COMP_WORDS[@]:3}")
        COMP_CWORD=$((COMP_CWORD - 2))
        __start_quern quern "$2" "$3"
    elif [[ -n $__quern_go_before ]]; then
        "$__quern_go_before" "$@"
    fi
}
complete -o default -F __quern_go go
`

func completionCommand(root *cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "completion",
		Short: "Print a completion script for a shell",
		Long:  completionHelp,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return errUsage{errors.New("name a shell: bash, fish, powershell or zsh"), cmd.CommandPath()}
		},
	}
	for _, shell := range []struct {
		name  string
		write func(io.Writer) error
		more  string
	}{
		{"bash", func(w io.Writer) error { return root.GenBashCompletionV2(w, true) }, goTool},
		{"fish", func(w io.Writer) error { return root.GenFishCompletion(w, true) }, ""},
		{"powershell", root.GenPowerShellCompletionWithDesc, ""},
		{"zsh", root.GenZshCompletion, ""},
	} {
		cmd.AddCommand(&cobra.Command{
			Use:               shell.name,
			Short:             "Print the script for " + shell.name,
			Long:              completionHelp,
			Args:              noArguments,
			ValidArgsFunction: cobra.NoFileCompletions,
			RunE: func(cmd *cobra.Command, _ []string) error {
				var script bytes.Buffer
				if err := shell.write(&script); err != nil {
					return err
				}
				_, err := fmt.Fprint(cmd.OutOrStdout(), placed(script.String(), functions[shell.name]), shell.more)
				return err
			},
		})
	}
	return cmd
}

// placed inserts the function definition into a script, after the first line,
// which zsh reads as a directive.
func placed(script, function string) string {
	first, rest, _ := bytes.Cut([]byte(script), []byte("\n"))
	return string(first) + "\n" + function + string(rest)
}
