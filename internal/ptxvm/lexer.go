package ptxvm

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

type tokenKind uint8

const (
	endOfText   tokenKind = iota
	identifier            // name, may contain $, % and _
	dotted                // .word: a directive or modifier; text omits the dot
	integer               // in value
	float32Text           // 0f...: value holds the bits of a float32
	float64Text           // 0d... or decimal: value holds the bits of a float64
	quoted                // text omits the quotes
	punctuation           // one character
)

type token struct {
	kind  tokenKind
	text  string
	value uint64
	line  int32
}

func (t token) String() string {
	switch t.kind {
	case endOfText:
		return "end of text"
	case dotted:
		return "." + t.text
	case quoted:
		return strconv.Quote(t.text)
	}
	return t.text
}

// lex splits PTX text into tokens. The last one is endOfText.
func lex(src string) ([]token, error) {
	l := lexer{src: src, line: 1}
	for {
		t, err := l.next()
		if err != nil {
			return nil, ErrorList{err}
		}
		l.tokens = append(l.tokens, t)
		if t.kind == endOfText {
			return l.tokens, nil
		}
	}
}

type lexer struct {
	src    string
	pos    int
	line   int32
	tokens []token
}

func (l *lexer) errorf(format string, args ...any) *SyntaxError {
	return &SyntaxError{Line: int(l.line), Message: fmt.Sprintf(format, args...)}
}

func (l *lexer) next() (token, *SyntaxError) {
	if err := l.skipSpace(); err != nil {
		return token{}, err
	}
	t := token{line: l.line}
	if l.pos == len(l.src) {
		return t, nil
	}
	start := l.pos
	c := l.src[l.pos]
	switch {
	case isLetter(c):
		l.pos++
		l.skipWord()
		t.kind, t.text = identifier, l.src[start:l.pos]
	case c >= '0' && c <= '9':
		return l.number(t)
	case c == '.' && l.pos+1 < len(l.src) && isWord(l.src[l.pos+1]):
		l.pos++
		l.skipWord()
		for strings.HasPrefix(l.src[l.pos:], "::") {
			l.pos += 2
			l.skipWord()
		}
		t.kind, t.text = dotted, l.src[start+1:l.pos]
	case c == '"':
		end := strings.IndexByte(l.src[l.pos+1:], '"')
		if end < 0 {
			return t, l.errorf("string is not closed")
		}
		t.kind, t.text = quoted, l.src[start+1:start+1+end]
		l.line += int32(strings.Count(t.text, "\n"))
		l.pos += end + 2
	case strings.IndexByte("{}[]()<>,;:@!|+-=*~.", c) >= 0:
		l.pos++
		t.kind, t.text = punctuation, l.src[start:l.pos]
	default:
		return t, l.errorf("unexpected character %q", rune(c))
	}
	return t, nil
}

func (l *lexer) skipSpace() *SyntaxError {
	for l.pos < len(l.src) {
		rest := l.src[l.pos:]
		switch c := rest[0]; {
		case c == '\n':
			l.line++
			l.pos++
		case c == ' ' || c == '\t' || c == '\r' || c == 0 && l.pos == len(l.src)-1:
			// The driver takes PTX as a C string, so a final NUL is allowed.
			l.pos++
		case strings.HasPrefix(rest, "//"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			l.pos += end
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return l.errorf("comment is not closed")
			}
			l.line += int32(strings.Count(rest[:end+2], "\n"))
			l.pos += end + 4
		default:
			return nil
		}
	}
	return nil
}

func (l *lexer) skipWord() {
	for l.pos < len(l.src) && isWord(l.src[l.pos]) {
		l.pos++
	}
}

func (l *lexer) number(t token) (token, *SyntaxError) {
	start := l.pos
	rest := l.src[start:]
	if len(rest) > 2 && rest[0] == '0' {
		switch rest[1] {
		case 'f', 'F':
			return l.hexFloat(t, float32Text, 8)
		case 'd', 'D':
			return l.hexFloat(t, float64Text, 16)
		}
	}
	l.skipWord()
	if l.pos < len(l.src) && l.src[l.pos] == '.' {
		l.pos++
		l.skipWord()
	}
	text := l.src[start:l.pos]
	hex := strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0X")
	if !hex && strings.ContainsAny(text, ".eE") {
		if last := text[len(text)-1]; (last == 'e' || last == 'E') && l.pos < len(l.src) && (l.src[l.pos] == '-' || l.src[l.pos] == '+') {
			l.pos++
			l.skipWord()
			text = l.src[start:l.pos]
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return t, l.errorf("invalid number %s", text)
		}
		t.kind, t.text, t.value = float64Text, text, math.Float64bits(v)
		return t, nil
	}
	v, err := strconv.ParseUint(strings.TrimSuffix(text, "U"), 0, 64)
	if err != nil || strings.Contains(text, "_") {
		return t, l.errorf("invalid number %s", text)
	}
	t.kind, t.text, t.value = integer, text, v
	return t, nil
}

func (l *lexer) hexFloat(t token, kind tokenKind, digits int) (token, *SyntaxError) {
	start := l.pos
	l.skipWord()
	t.kind, t.text = kind, l.src[start:l.pos]
	v, err := strconv.ParseUint(t.text[2:], 16, 64)
	if err != nil || len(t.text) != digits+2 {
		return t, l.errorf("invalid number %s: want %d hexadecimal digits", t.text, digits)
	}
	t.value = v
	return t, nil
}

func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || c == '%'
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$'
}
