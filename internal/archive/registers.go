package archive

import "strconv"

// The names of registers and labels are letters with a number: %rd12, $L3. Modules count them in
// the order of their definitions, so a small difference between two modules changes
// most lines. In an archive the number is therefore the distance from the largest one so far,
// and + with the distance less one for a larger one, which becomes the largest.

// relative replaces the numbers by distances.
func relative(text string) string { return renumber(text, true) }

// absolute replaces distances by numbers.
func absolute(text string) string { return renumber(text, false) }

func renumber(text string, toDistances bool) string {
	out := make([]byte, 0, len(text)+len(text)/8)
	largest := map[string]int{}
	done := 0
	for i := 0; i < len(text); i++ {
		if text[i] != '%' && text[i] != '$' {
			continue
		}
		end := i + 1
		for end < len(text) && 'A' <= text[end] && text[end] <= 'z' {
			end++
		}
		name := text[i:end]
		number := end
		larger := !toDistances && end < len(text) && text[end] == '+'
		if larger {
			number++
		}
		n, last := 0, number
		for last < len(text) && '0' <= text[last] && text[last] <= '9' && last < number+9 {
			n = 10*n + int(text[last]-'0')
			last++
		}
		i = end - 1
		if last == number && !larger {
			continue
		}
		most := largest[name]
		out = append(out, text[done:end]...)
		switch {
		case toDistances && n > most:
			out = append(out, '+')
			if n > most+1 {
				out = strconv.AppendInt(out, int64(n-most-1), 10)
			}
			largest[name] = n
		case larger:
			largest[name] = most + n + 1
			out = strconv.AppendInt(out, int64(largest[name]), 10)
		default:
			out = strconv.AppendInt(out, int64(most-n), 10)
		}
		i, done = last-1, last
	}
	return string(append(out, text[done:]...))
}
