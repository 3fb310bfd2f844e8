package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quern.dev/internal/testmodule"
)

var update = flag.Bool("update", false, "rewrite golden files")

// quern runs a command line in the current directory.
func quern(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestHelp(t *testing.T) {
	testmodule.NeedSource(t)
	for _, command := range []string{"", "gen", "vet", "devices", "doctor", "version", "bench", "bench algo", "ring", "ring bench", "top", "export", "profile", "annotate", "completion"} {
		name := "quern"
		args := []string{"--help"}
		if command != "" {
			name, args = strings.ReplaceAll(command, " ", "-"), append(strings.Fields(command), "--help")
		}
		t.Run(name, func(t *testing.T) {
			code, got, stderr := quern(t, args...)
			if code != 0 || stderr != "" {
				t.Errorf("exit code %d, standard error %q", code, stderr)
			}
			golden := filepath.Join("testdata", "help", name+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestMistakesOnTheCommandLineExitWithTwo(t *testing.T) {
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"a command that does not exist", []string{"compile"}, "quern: unknown command \"compile\" for \"quern\"\nRun 'quern --help' for usage.\n"},
		{"a command that resembles another", []string{"gem"}, "quern: unknown command \"gem\" for \"quern\"\n\nDid you mean this?\n\tgen\n\tgeo\n\tvet\nRun 'quern --help' for usage.\n"},
		{"a command that a group does not have", []string{"geo", "dem", "roughness"}, "quern: unknown command \"roughness\" for \"quern geo dem\"\nRun 'quern geo dem --help' for usage.\n"},
		{"a flag that does not exist", []string{"gen", "--force"}, "quern: unknown flag: --force\nRun 'quern gen --help' for usage.\n"},
		{"a flag of another command", []string{"vet", "--check"}, "quern: unknown flag: --check\nRun 'quern vet --help' for usage.\n"},
		{"an invalid value for a flag", []string{"devices", "--json=perhaps"}, "quern: invalid argument \"perhaps\" for \"--json\" flag: strconv.ParseBool: parsing \"perhaps\": invalid syntax\nRun 'quern devices --help' for usage.\n"},
		{"help for a command that does not exist", []string{"help", "bogus"}, "quern: no help for \"bogus\"\nRun 'quern --help' for usage.\n"},
		{"help for more than one command", []string{"help", "gen", "bogus"}, "quern: no help for \"gen bogus\"\nRun 'quern --help' for usage.\n"},
		{"an empty package", []string{"gen", ""}, "quern: a package name is empty; omit it for the package in the current directory\nRun 'quern gen --help' for usage.\n"},
		{"a file to compile", []string{"gen", "./own/kernels.go"}, "quern: ./own/kernels.go is a file; name the package's directory instead\nRun 'quern gen --help' for usage.\n"},
		{"a file to check", []string{"vet", "kernels.go"}, "quern: kernels.go is a file; name the package's directory instead\nRun 'quern vet --help' for usage.\n"},
		{"an argument for a command without arguments", []string{"doctor", "please"}, "quern: quern doctor takes no arguments, but got \"please\"\nRun 'quern doctor --help' for usage.\n"},
		{"a number of actors that is not a number", []string{"ring", "bench", "-actors=some"}, "quern: -actors some: want numbers (numbers of actors)\nRun 'quern ring bench --help' for usage.\n"},
		{"no actors", []string{"ring", "bench", "-actors", "0"}, "quern: 0 actors: want 1 to 4096\nRun 'quern ring bench --help' for usage.\n"},
		{"a payload without an actor", []string{"ring", "bench", "--payload", "17"}, "quern: no messages of 17 bytes: want 16, 64, 256\nRun 'quern ring bench --help' for usage.\n"},
		{"a batch that is too large", []string{"ring", "bench", "-batch=1000"}, "quern: a batch of 1000 messages: want 1 to 512\nRun 'quern ring bench --help' for usage.\n"},
		{"a measurement that takes no time", []string{"ring", "bench", "-duration=0"}, "quern: a duration of 0s: want at least 1ms\nRun 'quern ring bench --help' for usage.\n"},
		{"--check together with --actors", []string{"ring", "bench", "-check", "-actors", "1"}, "quern: --check selects what is measured; remove --actors\nRun 'quern ring bench --help' for usage.\n"},
		{"a negative number of elements", []string{"bench", "algo", "-elements=-1"}, "quern: -1 elements: want 1 to 1073741824, or 0 for a number that suits the device\nRun 'quern bench algo --help' for usage.\n"},
		{"a sweep of nothing", []string{"bench", "algo", "-sweep", "-elements", "100"}, "quern: --sweep to 100 elements: it begins with 1024\nRun 'quern bench algo --help' for usage.\n"},
		{"an unknown library", []string{"bench", "bogus"}, "quern: unknown command \"bogus\" for \"quern bench\"\nRun 'quern bench --help' for usage.\n"},
		{"an unknown measurement", []string{"ring", "top"}, "quern: unknown command \"top\" for \"quern ring\"\nRun 'quern ring --help' for usage.\n"},
		{"no file to print", []string{"ptx"}, "quern: name a file: quern_gen.zip of the package\nRun 'quern ptx --help' for usage.\n"},
		{"more than one module", []string{"ptx", "quern_gen.zip", "saxpy", "scale"}, "quern: one file and one module at a time; remove \"scale\"\nRun 'quern ptx --help' for usage.\n"},
		{"completion without a shell", []string{"completion"}, "quern: name a shell: bash, fish, powershell or zsh\nRun 'quern completion --help' for usage.\n"},
		{"completion for an unknown shell", []string{"completion", "tcsh"}, "quern: unknown command \"tcsh\" for \"quern completion\"\nRun 'quern --help' for usage.\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := quern(t, tt.args...)
			if code != 2 || stdout != "" {
				t.Errorf("exit code %d, want 2; standard output %q", code, stdout)
			}
			if diff := cmp.Diff(tt.want, stderr); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestHelpCommandPrintsTheHelpOfTheCommand(t *testing.T) {
	_, want, _ := quern(t, "vet", "--help")
	if code, got, stderr := quern(t, "help", "vet"); code != 0 || stderr != "" || got != want {
		t.Errorf("exit code %d, standard error %q, standard output\n%s", code, stderr, got)
	}
}

// In bash, go tool quern completes like quern; other tools complete as before.
func TestBashCompletesGoTool(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	_, script, _ := quern(t, "completion", "bash")
	for _, c := range []struct{ line, want string }{
		{"go tool quern gen --ch", "quern gen --ch|quern gen --ch|14|2"},
		{"go tool quern ", "quern |quern |6|1"},
		{"go tool vet ", "before"},
		{"go build ", "before"},
	} {
		words := strings.Fields(c.line)
		if strings.HasSuffix(c.line, " ") {
			words = append(words, "''")
		}
		run := fmt.Sprintf(`
_before() { echo before; }
complete -F _before go
eval "$SCRIPT"; eval "$SCRIPT" # as a shell that reads its start file again
[ "$(type -t quern)" = function ] || echo "no function"
__start_quern() { echo "$COMP_LINE|${COMP_WORDS[*]}|$COMP_POINT|$COMP_CWORD"; }
COMP_LINE=%q COMP_POINT=%d COMP_WORDS=(%s) COMP_CWORD=%d
__quern_go go "" tool
`, c.line, len(c.line), strings.Join(words, " "), len(words)-1)
		cmd := exec.CommandContext(t.Context(), bash, "--norc", "-c", run)
		cmd.Env = []string{"SCRIPT=" + script, "PATH=/usr/bin:/bin"}
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSuffix(string(out), "\n"); err != nil || got != c.want {
			t.Errorf("%s: %q, want %q, error %v", c.line, got, c.want, err)
		}
	}
}

func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"bash", "fish", "powershell", "zsh"} {
		code, stdout, stderr := quern(t, "completion", shell)
		if code != 0 || stderr != "" || !strings.Contains(stdout, "quern") {
			t.Errorf("%s: exit code %d, %d bytes, standard error %q", shell, code, len(stdout), stderr)
		}
	}
	_, stdout, _ := quern(t, "__complete", "")
	for _, command := range []string{"gen", "vet", "devices", "doctor", "bench", "version", "ring", "completion"} {
		if !strings.Contains(stdout, command+"\t") {
			t.Errorf("completion does not offer %s:\n%s", command, stdout)
		}
	}
}
