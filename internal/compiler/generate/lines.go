package generate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Coverage reads line directives too. cmd/cover assigns the blocks of a function to the
// file that contains its func keyword, at the lines and columns given by directives,
// and fails if two blocks of a file have the same position. A kernel's own file must
// have only its own blocks, so each function of the generated file is positioned in the
// generated file. Blocks of code from several files must not begin at the same position
// there. After a directive without a column, columns are 0; after one with a column, those of
// later lines are the actual ones. A line at which a block begins has
//
//	column 0 only if its file is the first one with a block at column 0 of that line
//	other columns only if they are not those of a line of another file, which has the same number
//
// Columns are used only by coverage and by compiler errors in generated code.

// longName is the length of a file name from which a directive without the name, which needs a
// column, is preferred.
const longName = 20

// A line with a directive begins at the first multiple of columnStep, after column 1, that the
// lines of other files with the same number leave. columnStep exceeds most lines.
const columnStep = 500

// directives adds line directives to the text of a generated file.
type directives struct {
	out    []string
	owner  map[int]string // of a line number: the file whose blocks begin at column 0 there
	spans  map[int][]span // of a line number: columns of lines at which blocks begin
	next   virtual        // the position of the next line; no file: the actual position
	stated bool           // set by a directive of text that is not written yet
	actual bool           // the compiler's position of the next line is the actual one
	latest string         // file of the last directive
	based  bool           // it has a column
}

// span is the columns of a line.
type span struct {
	file       string // "" for the generated file
	first, end int
}

// separate adds the directives that coverage needs, and shortens the others.
func separate(text []byte) []byte {
	d := directives{owner: map[int]string{}, spans: map[int][]span{}, actual: true}
	begins := false // a block of statements begins at the next line
	lines := strings.SplitAfter(string(text), "\n")
	for i, line := range lines {
		if file, n, ok := directive(line); ok {
			d.next, d.stated = virtual{file, n}, true
			continue
		}
		code := strings.TrimLeft(line, "\t")
		switch {
		case strings.HasPrefix(line, "func "):
			if !d.actual {
				if i > 0 && strings.HasPrefix(lines[i-1], "// ") {
					d.write("//\n") // as gofmt formats directives in a comment
				}
				d.out = append(d.out, fmt.Sprintf("//line %s:%d:1\n", GoFile, len(d.out)+2))
			}
			d.next, d.stated, d.actual, d.latest = virtual{}, false, true, ""
		case line == "}\n": // its position is the actual one, as that of the func keyword
			d.restore()
		case d.next.file == "" || code == "\n" || code == "}\n" || strings.HasPrefix(code, "//"):
		default:
			line = d.place(line, code, begins || opensBlock(code))
		}
		d.write(line)
		if code != "\n" && !strings.HasPrefix(code, "//") {
			begins = endsBlock(code)
		}
	}
	return []byte(strings.Join(d.out, ""))
}

func (d *directives) write(line string) {
	if d.actual {
		d.claim(len(d.out)+1, span{"", 1, len(line) + 1})
	}
	d.out = append(d.out, line)
	d.next.line++
}

// claim records the columns of a line.
func (d *directives) claim(line int, s span) { d.spans[line] = append(d.spans[line], s) }

// isFree reports whether no line of another file has one of the columns of a line, and none will.
func (d *directives) isFree(line int, s span) bool {
	if line > len(d.out) && s.first < 10_000 { // a line of the generated file that is not written yet
		return false
	}
	return !slices.ContainsFunc(d.spans[line], func(other span) bool {
		return other.file != s.file && other.first < s.end && s.first < other.end
	})
}

// restore gives the next line its actual position, by a directive at the end of the line before.
func (d *directives) restore() {
	if before := len(d.out) - 1; !d.actual && isCode(d.out[before]) {
		d.out[before] = fmt.Sprintf("%s /*line %s:%d:1*/\n", strings.TrimSuffix(d.out[before], "\n"), GoFile, before+1)
		d.actual = true
	}
}

// place adds the directive that a line of code needs, and returns the line.
func (d *directives) place(line, code string, begins bool) string {
	file, n := d.next.file, d.next.line
	natural := span{file, len(line) - len(code) + 1, len(line) + 1}
	owns := d.owner[n] == "" || d.owner[n] == file
	if !d.stated && !d.actual && (!begins || d.based && d.isFree(n, natural) || !d.based && owns) {
		switch {
		case begins && d.based:
			d.claim(n, natural)
		case begins:
			d.owner[n] = file
		}
		return line
	}
	place := fmt.Sprintf("%s:%d", file, n)
	d.based = file == d.latest && len(file) >= longName || begins && !owns
	if d.based {
		if file == d.latest {
			place = fmt.Sprintf(":%d", n)
		}
		at := span{file, 1, len(line) + 2}
		for step := 1; begins && !d.isFree(n, at); step++ {
			at.first, at.end = step*columnStep, step*columnStep+len(line)+2
		}
		if begins {
			d.claim(n, at)
		}
		place += fmt.Sprintf(":%d", at.first)
	} else if begins {
		d.owner[n] = file
	}
	d.stated, d.actual, d.latest = false, false, file
	if startsStatement(code) {
		return line[:len(line)-len(code)] + "/*line " + place + "*/ " + code
	}
	d.out = append(d.out, "//line "+place+"\n")
	return line
}

// opensBlock reports whether a line contains the beginning of a block.
func opensBlock(code string) bool {
	return strings.HasSuffix(code, "{\n") || strings.HasSuffix(code, ":\n") || strings.Contains(code, "func(")
}

// endsBlock reports whether the statement that ends with a line may be the last one of its block.
func endsBlock(code string) bool {
	if strings.HasPrefix(code, "}") || strings.HasSuffix(code, ":\n") || strings.Contains(code, "func(") {
		return true
	}
	switch code[:len(code)-len(strings.TrimLeftFunc(code, isWord))] {
	case "break", "continue", "goto", "return", "fallthrough", "panic":
		return true
	}
	return false
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
	file string
	line int
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
