package ir

import (
	"strings"
	"unicode"
)

// Identifier is the Go identifier for a kernel: scale_float32 for
// scale[float32], and the name itself where it is one.
func Identifier(kernel string) string {
	kernel = strings.ReplaceAll(kernel, "=-", "=minus") // blur[by=-1] is not blur[by=1]
	words := strings.FieldsFunc(kernel, func(c rune) bool {
		return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c)
	})
	return strings.Join(words, "_")
}

// Entry is the identifier from which the name of the kernel's GPU code is made.
func (k *Kernel) Entry() string { return Identifier(k.Name) }
