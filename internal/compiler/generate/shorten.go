package generate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// structs gives names to the struct types without a name that functions mention, because gofmt
// prints each field on a line.
type structs struct {
	names map[string]string // by type
	text  strings.Builder   // declarations
}

// fields matches a struct type of several fields, none of which is a struct without a name.
var fields = regexp.MustCompile(`\bstruct\{[^{};]+;[^{}]+\}`)

// replace replaces the struct types in the text of a function by their names. Those that depend on
// a type parameter stay.
func (s *structs) replace(text string, params []string) string {
	for {
		before := text
		text = fields.ReplaceAllStringFunc(text, func(t string) string {
			for _, name := range identifiers(t) {
				if slices.Contains(params, name) {
					return t
				}
			}
			if s.names[t] == "" {
				s.names[t] = fmt.Sprintf("quernStruct%d", len(s.names)+1)
				fmt.Fprintf(&s.text, "\ntype %s = %s\n", s.names[t], t)
			}
			return s.names[t]
		})
		if text == before {
			return text
		}
	}
}

var head = regexp.MustCompile(`(?m)^func \w+(?:\[[^()]*\])?\((.*)\)[^()]*\{$`)

// grouped groups the parameters of a function by type.
func grouped(text string) string {
	at := head.FindStringSubmatchIndex(text)
	if at == nil {
		return text
	}
	var params []parameter
	for _, p := range splitList(text[at[2]:at[3]]) {
		name, typ, _ := strings.Cut(p, " ")
		params = append(params, parameter{name: name, typ: typ})
	}
	return text[:at[2]] + strings.TrimPrefix(signature(params), ", ") + text[at[3]:]
}

// splitList splits a list at the commas that are not in brackets.
func splitList(list string) (parts []string) {
	depth, from := 0, 0
	for at, c := range list {
		switch {
		case strings.ContainsRune("([{", c):
			depth++
		case strings.ContainsRune(")]}", c):
			depth--
		case c == ',' && depth == 0:
			parts = append(parts, strings.TrimSpace(list[from:at]))
			from = at + 1
		}
	}
	return append(parts, strings.TrimSpace(list[from:]))
}
