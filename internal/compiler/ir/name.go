package ir

import (
	"strings"
	"unicode"
)

// Identifier returns the Go identifier for a kernel: scale_float32 for scale[float32],
// and the name itself if it is an identifier.
func Identifier(kernel string) string {
	kernel = strings.ReplaceAll(kernel, "=-", "=minus") // blur[by=-1] and blur[by=1] must differ
	words := strings.FieldsFunc(kernel, func(c rune) bool {
		return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c)
	})
	return strings.Join(words, "_")
}

// Entry returns the identifier from which the name of the kernel's GPU code is derived.
func (k *Kernel) Entry() string { return Identifier(k.Name) }
