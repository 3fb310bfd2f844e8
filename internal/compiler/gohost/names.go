package gohost

import (
	"strconv"
	"strings"
	"unicode"
)

// names allocates the identifiers of one function. All are different, so nothing is
// shadowed.
type names struct {
	taken map[string]bool
	last  map[string]int // last suffix used, by name
	of    map[any]string
}

func newNames(reserved map[string]bool) *names {
	n := &names{taken: map[string]bool{}, last: map[string]int{}, of: map[any]string{}}
	for _, word := range strings.Fields(fixedNames) {
		n.taken[word] = true
	}
	for word := range reserved {
		n.taken[word] = true
	}
	return n
}

// fixedNames are Go's keywords, the predeclared identifiers, and the parameter of the
// function.
const fixedNames = `break case chan const continue default defer else fallthrough for func go goto if import
interface map package range return select struct switch type var
any append bool byte cap clear close comparable complex complex64 complex128 copy delete error false
float32 float64 imag int int8 int16 int32 int64 iota len make max min new nil panic print println real
recover rune string true uint uint8 uint16 uint32 uint64 uintptr init main _ r`

// fresh returns an unused identifier, based on want.
func (n *names) fresh(want string) string {
	want = strings.Map(func(c rune) rune {
		if c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c) {
			return c
		}
		return -1
	}, want)
	if want == "" || unicode.IsDigit(rune(want[0])) {
		want = "v" + want
	}
	name := want
	for i := max(2, n.last[want]); n.taken[name]; i++ {
		name = want + strconv.Itoa(i)
		n.last[want] = i
	}
	n.taken[name] = true
	return name
}

// name returns the identifier of key, which never changes.
func (n *names) name(key any, want string) string {
	if s, ok := n.of[key]; ok {
		return s
	}
	s := n.fresh(want)
	n.of[key] = s
	return s
}
