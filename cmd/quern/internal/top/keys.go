package top

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// key is a key, or a few for the same thing.
type key struct {
	name string
	help string
	read []string // what the terminal sends
	do   func(v *View)
}

var keys = []key{
	{"q, Ctrl-C", "quit", []string{"q", "Q", "\x03"}, func(v *View) { v.quit = true }},
	{"up, k", "select the GPU above", []string{"\x1b[A", "\x1bOA", "k"}, func(v *View) { v.move(-1) }},
	{"down, j", "select the GPU below", []string{"\x1b[B", "\x1bOB", "j"}, func(v *View) { v.move(1) }},
	{"s", "sort processes by memory, busy, pid, gpu, command", []string{"s"}, func(v *View) { v.order = (v.order + 1) % len(processOrders) }},
	{"g", "sort GPUs by index, busy, memory, power, temperature", []string{"g"}, func(v *View) { v.gpuOrder = (v.gpuOrder + 1) % len(gpuOrders) }},
	{"/", "show the processes whose command, user or PID contains a text", []string{"/"}, func(v *View) { v.editing = true }},
	{"Esc", "clear the filter", []string{"\x1b"}, func(v *View) { v.filter, v.help = "", false }},
	{"space, p", "pause, and continue", []string{" ", "p"}, func(v *View) { v.paused = !v.paused }},
	{"h, ?", "this help", []string{"h", "?"}, func(v *View) { v.help = !v.help }},
	{"Ctrl-Z", "suspend", []string{"\x1a"}, func(v *View) { v.suspend = true }},
}

// move selects another GPU, in the order of the table.
func (v *View) move(by int) {
	if v.snapshot == nil || len(v.snapshot.GPUs) == 0 {
		return
	}
	list := v.sorted()
	at := 0
	for i, index := range list {
		if index == v.selected {
			at = i
		}
	}
	v.selected = list[min(max(at+by, 0), len(list)-1)]
}

// Keys handles what the terminal has sent.
func (v *View) Keys(text string) {
	for text != "" && !v.quit {
		one := first(text)
		text = text[len(one):]
		if v.editing {
			v.edit(one)
			continue
		}
		for _, k := range keys {
			for _, read := range k.read {
				if one == read {
					k.do(v)
				}
			}
		}
	}
}

// first returns the first key: a character or an escape sequence.
func first(text string) string {
	if !strings.HasPrefix(text, "\x1b") || len(text) == 1 {
		_, n := utf8.DecodeRuneInString(text)
		return text[:n]
	}
	if text[1] != '[' && text[1] != 'O' {
		return text[:1]
	}
	for i := 2; i < len(text); i++ {
		if text[i] >= 0x40 && text[i] <= 0x7e {
			return text[:i+1]
		}
	}
	return text
}

// longestFilter is in bytes.
const longestFilter = 40

// edit changes the filter by a key.
func (v *View) edit(one string) {
	switch one {
	case "\x03":
		v.quit = true
	case "\r", "\n":
		v.editing = false
	case "\x1b":
		v.editing, v.filter = false, ""
	case "\x7f", "\b":
		_, n := utf8.DecodeLastRuneInString(v.filter)
		v.filter = v.filter[:len(v.filter)-n]
	default:
		if r, _ := utf8.DecodeRuneInString(one); unicode.IsPrint(r) && len(v.filter)+len(one) <= longestFilter {
			v.filter += one
		}
	}
}
