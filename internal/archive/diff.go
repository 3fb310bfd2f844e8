package archive

import (
	"fmt"
	"slices"
	"strings"
)

// A difference lists the changes that turn one text into another. Each change is a line with
// three numbers, followed by lines: how many lines stay since the last change, how many are
// removed, and how many are added, which follow.

// window is how many lines ahead difference looks for lines that both texts have.
const window = 64

// difference returns the changes from one text to another.
func difference(from, to string) string {
	a, b := strings.Split(from, "\n"), strings.Split(to, "\n")
	var out strings.Builder
	for i, j := 0, 0; i < len(a) || j < len(b); {
		same := 0
		for i+same < len(a) && j+same < len(b) && a[i+same] == b[j+same] {
			same++
		}
		i, j = i+same, j+same
		removed, added := meet(a[i:], b[j:])
		if removed+added == 0 {
			break
		}
		fmt.Fprintf(&out, "%d %d %d\n", same, removed, added)
		for _, line := range b[j : j+added] {
			out.WriteString(line + "\n")
		}
		i, j = i+removed, j+added
	}
	return out.String()
}

// meet returns how many lines to leave out of each list so that both go on alike.
func meet(a, b []string) (i, j int) {
	const run = 3 // lines that are alike
	for far := 1; far <= window; far++ {
		for i := range far + 1 {
			j := far - i
			if i <= len(a) && j <= len(b) && slices.Equal(head(a[i:], run), head(b[j:], run)) {
				return i, j
			}
		}
	}
	return len(a), len(b)
}

func head(list []string, n int) []string { return list[:min(n, len(list))] }

// apply returns the text that difference was called with.
func apply(from, changes string) (string, error) {
	a := strings.Split(from, "\n")
	var lines []string
	for changes != "" {
		line, rest, _ := strings.Cut(changes, "\n")
		var same, removed, added int
		if _, err := fmt.Sscanf(line, "%d %d %d", &same, &removed, &added); err != nil || same < 0 || removed < 0 || added < 0 || same+removed > len(a) {
			return "", fmt.Errorf("damaged difference at %q", line)
		}
		changes = rest
		lines = append(lines, a[:same]...)
		a = a[same+removed:]
		for range added {
			line, rest, found := strings.Cut(changes, "\n")
			if !found {
				return "", fmt.Errorf("damaged difference: it ends early")
			}
			lines = append(lines, line)
			changes = rest
		}
	}
	return strings.Join(append(lines, a...), "\n"), nil
}
