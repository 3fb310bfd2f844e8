package main

import (
	"fmt"
	"regexp"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// unknownFlag matches pflag's errors of flags that do not exist.
var unknownFlag = regexp.MustCompile(`^unknown flag: --?([\w-]+)|^unknown shorthand flag: '.' in -([\w-]+)`)

// suggestFlag names the flag that is most like one that does not exist.
func suggestFlag(cmd *cobra.Command, err error) error {
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
