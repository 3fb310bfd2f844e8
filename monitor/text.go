package monitor

import (
	"strings"
	"unicode"
)

// printable replaces what a terminal might take as a command. Processes choose their own names.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}
