package archive

import (
	"strconv"
	"strings"
)

// The names of registers and labels are letters with a number: %rd12, $L3. Modules count them, so
// a small difference between two modules changes most lines. In an archive the numbers are
// therefore differences from the last definition with the same letters:
//
//	+  +4  -7    a definition: the next number, 4 more and 7 less than the next
//	0  3  -2     any other: the same number, 3 less, 2 more
//
// What the registers of a line are taken for matters for the size only.

// relative replaces the numbers by differences.
func relative(text string) string { return renumber(text, true) }

// absolute replaces differences by numbers.
func absolute(text string) string { return renumber(text, false) }

func renumber(text string, toDifferences bool) string {
	out := make([]byte, 0, len(text)+len(text)/8)
	var last numbers
	for line := range strings.Lines(text) {
		operands, done := defined(line), 0
		for at := 0; at < len(line); at++ {
			if line[at] != '%' && line[at] != '$' {
				continue
			}
			end := at + 1
			for end < len(line) && 'A' <= line[end] && line[end] <= 'z' {
				end++
			}
			letters, defines := line[at:end], at < operands
			at = end - 1
			n, size, found := number(line[end:], toDifferences, defines)
			if !found {
				continue
			}
			out = append(out, line[done:end]...)
			before := last.of(letters)
			switch {
			case toDifferences && defines:
				if d := n - *before - 1; d >= 0 {
					out = append(out, '+')
				}
				if d := n - *before - 1; d != 0 {
					out = strconv.AppendInt(out, int64(d), 10)
				}
			case toDifferences:
				out = strconv.AppendInt(out, int64(*before-n), 10)
			case defines:
				n += *before + 1
				out = strconv.AppendInt(out, int64(n), 10)
			default:
				out = strconv.AppendInt(out, int64(*before-n), 10)
			}
			if defines {
				*before = n
			}
			at, done = end+size-1, end+size
		}
		out = append(out, line[done:]...)
	}
	return string(out)
}

// number reads a number at the beginning of a text, or a difference, and returns its size.
func number(text string, plain, definition bool) (n, size int, found bool) {
	sign := byte(0)
	if !plain && text != "" && (text[0] == '-' || text[0] == '+' && definition) {
		sign, size = text[0], 1
	}
	digits := size
	for size < len(text) && size < digits+9 && '0' <= text[size] && text[size] <= '9' {
		n = 10*n + int(text[size]-'0')
		size++
	}
	if sign == '-' {
		n = -n
	}
	return n, size, size > digits || sign == '+'
}

// defined returns where the operands end that a line defines: at its first comma outside braces.
// A comment names registers that the module defines.
func defined(line string) int {
	line0 := strings.TrimLeft(line, "\t")
	if strings.HasPrefix(line0, "//") {
		return len(line)
	}
	for _, uses := range []string{"@", "bra", "st.", "red.", "cp."} {
		if strings.HasPrefix(line0, uses) {
			return 0
		}
	}
	braces := 0
	for i := range len(line) {
		switch line[i] {
		case '{':
			braces++
		case '}':
			braces--
		case ',':
			if braces == 0 {
				return i
			}
		}
	}
	return len(line)
}

// numbers holds the number that was defined last with each of the letters.
type numbers []struct {
	letters string
	last    int
}

func (l *numbers) of(letters string) *int {
	for i := range *l {
		if (*l)[i].letters == letters {
			return &(*l)[i].last
		}
	}
	*l = append(*l, struct {
		letters string
		last    int
	}{letters, 0})
	return &(*l)[len(*l)-1].last
}
