package generate

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Coverage reads line directives too: cmd/cover gives the blocks of a function to
// the file that its func keyword is in, at the lines and columns that directives
// say, and fails if two blocks of a file have one position. So that kernels' own
// files have their own blocks only, each function of the generated file is in the
// generated file; and so that blocks of code from several files do not meet there,
// positions of different files have different columns:
//
//	of the generated file       those that they have
//	of the first file at a line 0, which is what a directive without a column says
//	of others at the same line  those from a base of their own
//
// Nothing but coverage and errors of the compiler in generated code has columns.
const columnBase = 10_000

// separate adds the directives for that to the text of a generated file.
func separate(text []byte) []byte {
	var out bytes.Buffer
	var (
		owner  = map[int]string{} // of a line number, the file whose positions have column 0 there
		bases  = map[string]int{} // of files that are not
		number = 1                // of the next line of out
		at     virtual            // where the next line is for the compiler; no file: where it is
		stated bool               // by a directive of text that has not been written yet
	)
	write := func(line string) {
		out.WriteString(line)
		number++
		at.line++
	}
	lines := strings.SplitAfter(string(text), "\n")
	for i, line := range lines {
		if file, n, ok := directive(line); ok {
			at, stated = virtual{file: file, line: n}, true
			continue
		}
		if at.file != "" && strings.HasPrefix(line, "func ") {
			at, stated = virtual{}, false
			if i > 0 && strings.HasPrefix(lines[i-1], "// ") {
				write("//\n") // as gofmt has directives in a comment
			}
			write(fmt.Sprintf("//line %s:%d:1\n", GoFile, number+1))
		}
		if at.file != "" && strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "//") {
			owned, found := owner[at.line]
			if !found {
				owner[at.line] = at.file
			}
			column := ""
			if found && owned != at.file {
				if bases[at.file] == 0 {
					bases[at.file] = (len(bases) + 1) * columnBase
				}
				column = ":" + strconv.Itoa(bases[at.file])
			}
			if stated || column != "" || at.based {
				fmt.Fprintf(&out, "//line %s:%d%s\n", at.file, at.line, column)
				number++
			}
			stated, at.based = false, column != ""
		}
		write(line)
	}
	return out.Bytes()
}

// virtual is a position that a directive gives.
type virtual struct {
	file  string
	line  int
	based bool // the last line has columns from a base, which end with it
}

// directive reads a line directive.
func directive(line string) (file string, n int, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "//line ")
	at := strings.LastIndexByte(rest, ':')
	if !ok || at < 0 {
		return "", 0, false
	}
	n, err := strconv.Atoi(rest[at+1:])
	return rest[:at], n, err == nil
}
