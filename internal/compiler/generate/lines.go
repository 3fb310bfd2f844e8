package generate

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Coverage reads line directives too. cmd/cover assigns the blocks of a function to the
// file that contains its func keyword, at the lines and columns given by directives,
// and fails if two blocks of a file have the same position. A kernel's own file must
// have only its own blocks, so each function of the generated file is positioned in the
// generated file. Blocks of code from several files must not have the same position
// there, so positions from different files have different columns:
//
//	in the generated file       their actual columns
//	in the first file at a line 0, as set by a directive without a column
//	in other files at that line columns from a base per file
//
// Columns are used only by coverage and by compiler errors in generated code.
const columnBase = 10_000

// The positions of closing braces matter only there. So a brace that would need a
// directive of its own, and the last one of a function, has its actual position in the generated
// file: a directive at the end of the line before says so.

// separate adds these directives to the text of a generated file.
func separate(text []byte) []byte {
	var out []string
	var (
		owner  = map[int]string{} // of a line number: the file whose positions have column 0 there
		bases  = map[string]int{} // of files that do not own their line
		at     virtual            // the position of the next line; no file: the actual position
		stated bool               // set by a directive of text that is not written yet
		actual = true             // the compiler's position of the next line is the actual one
	)
	write := func(line string) {
		out = append(out, line)
		at.line++
	}
	lines := strings.SplitAfter(string(text), "\n")
	for i, line := range lines {
		if file, n, ok := directive(line); ok {
			at, stated = virtual{file: file, line: n}, true
			continue
		}
		if !actual && strings.HasPrefix(line, "func ") {
			if i > 0 && strings.HasPrefix(lines[i-1], "// ") {
				write("//\n") // as gofmt formats directives in a comment
			}
			write(fmt.Sprintf("//line %s:%d:1\n", GoFile, len(out)+2))
			actual = true
		}
		if strings.HasPrefix(line, "func ") {
			at, stated = virtual{}, false
		}
		if at.file != "" && strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "//") {
			begin := strings.TrimLeft(line, "\t")
			before := len(out) - 1
			if begin == "}\n" && (actual || isCode(out[before]) && (line == begin || at.based || owner[at.line] != "" && owner[at.line] != at.file)) {
				if !actual {
					out[before] = fmt.Sprintf("%s /*line %s:%d:1*/\n", strings.TrimSuffix(out[before], "\n"), GoFile, before+1)
				}
				actual, at.based = true, false
				write(line)
				continue
			}
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
			if stated || column != "" || at.based || actual {
				place := fmt.Sprintf("%s:%d%s", at.file, at.line, column)
				if startsStatement(begin) {
					line = line[:len(line)-len(begin)] + "/*line " + place + "*/ " + begin
				} else {
					out = append(out, "//line "+place+"\n")
				}
			}
			stated, actual, at.based = false, false, column != ""
		}
		write(line)
	}
	return []byte(strings.Join(out, ""))
}

// isCode reports whether a directive can be added to the end of a line.
func isCode(line string) bool {
	return strings.TrimSpace(line) != "" && !strings.HasPrefix(strings.TrimLeft(line, "\t"), "//") && !strings.HasSuffix(line, "*/\n")
}

// startsStatement reports whether a line begins with a statement, so that a comment before it
// stays on the line.
func startsStatement(line string) bool {
	word := line[:len(line)-len(strings.TrimLeftFunc(line, isWord))]
	switch word {
	case "", "case", "default", "func", "var", "const", "type":
		return false
	}
	return !strings.HasPrefix(line[len(word):], ":\n") // a label
}

func isWord(c rune) bool { return c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c) }

// virtual is a position set by a directive.
type virtual struct {
	file  string
	line  int
	based bool // the last line has columns based at a base, and the base ends with it
}

// directive parses a line directive.
func directive(line string) (file string, n int, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "//line ")
	at := strings.LastIndexByte(rest, ':')
	if !ok || at < 0 {
		return "", 0, false
	}
	n, err := strconv.Atoi(rest[at+1:])
	return rest[:at], n, err == nil
}
