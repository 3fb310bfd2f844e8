package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// unknownFlag matches pflag's errors of flags that do not exist.
var unknownFlag = regexp.MustCompile(`^unknown flag: --?([\w-]+)|^unknown shorthand flag: '.' in -([\w-]+)`)

// suggestFlag names the flag that is most like one that does not exist, and says what a flag of several numbers wants.
func suggestFlag(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		if f := invalid.GetFlag(); strings.HasSuffix(f.Value.Type(), "Slice") {
			return fmt.Errorf("-%s %s: want numbers (%s)", f.Name, invalid.GetValue(), f.Usage)
		}
	}
	m := unknownFlag.FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	name := m[1] + m[2]
	best, least := "", len(name)/3+1
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if d := editDistance(name, f.Name); d < least || d == least && best == "" {
			best, least = f.Name, d
		}
	})
	switch {
	case best == "" && m[1] != "":
		return err
	case best == "":
		return fmt.Errorf("unknown option -%s", name)
	}
	return fmt.Errorf("unknown option -%s; the most similar one is -%s", name, best)
}

// editDistance returns how many bytes have to be inserted, removed or replaced to make b of a.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
