package ptxvm

import (
	"fmt"
	"strconv"
	"strings"
)

// maxErrors is the largest number of errors that Parse reports.
const maxErrors = 10

// Parse parses PTX text into a module whose kernels can be launched. The error is an
// ErrorList.
func Parse(src string) (*Module, error) {
	tokens, err := lex(src)
	if err != nil {
		return nil, err
	}
	p := parser{tokens: tokens, module: &Module{files: make(map[uint64]string)}, scope: newScope(nil)}
	for p.peek().kind != endOfText && len(p.errors) < maxErrors {
		p.recovering(p.moduleItem)
	}
	if p.module.Version == "" && len(p.errors) == 0 {
		p.errors = append(p.errors, &SyntaxError{Line: 1, Message: "no .version directive"})
	}
	if len(p.errors) > 0 {
		return nil, p.errors
	}
	return p.module, nil
}

// parser turns tokens into a module in one pass. It resolves branch targets at the end of
// each function.
type parser struct {
	tokens []token
	pos    int
	errors ErrorList

	module *Module
	scope  *scope
	shared int // bytes of module-level shared memory
}

// syntaxFailure is the panic value that unwinds to recovering. The error itself is in
// parser.errors.
type syntaxFailure struct{}

func (p *parser) errorAt(line int32, format string, args ...any) {
	if len(p.errors) < maxErrors {
		p.errors = append(p.errors, &SyntaxError{Line: int(line), Message: fmt.Sprintf(format, args...)})
	}
}

// fail records an error at the last token read and abandons the statement.
func (p *parser) fail(format string, args ...any) {
	p.errorAt(p.tokens[max(p.pos-1, 0)].line, format, args...)
	panic(syntaxFailure{})
}

// unsupported is fail for text that may be valid PTX.
func (p *parser) unsupported(format string, args ...any) {
	n := len(p.errors)
	defer func() {
		for _, e := range p.errors[n:] {
			e.Unsupported = true
		}
	}()
	p.fail(format, args...)
}

// recovering runs parse. After an error it continues after the next semicolon or brace.
func (p *parser) recovering(parse func()) {
	start := p.pos
	defer func() {
		switch r := recover(); r {
		case nil:
		case syntaxFailure{}:
			if last := p.tokens[max(p.pos-1, 0)]; p.pos > start && last.kind == punctuation && last.text == ";" {
				return // the contents are wrong, but the end of the statement is not
			}
			for {
				t := p.peek()
				if t.kind == endOfText || t.text == "}" && p.pos > start && t.kind == punctuation {
					return
				}
				p.pos++
				if t.kind == punctuation && (t.text == ";" || t.text == "{" || t.text == "}") {
					return
				}
			}
		default:
			panic(r)
		}
	}()
	parse()
}

func (p *parser) peek() token { return p.tokens[p.pos] }

func (p *parser) next() token {
	t := p.tokens[p.pos]
	if t.kind != endOfText {
		p.pos++
	}
	return t
}

func (p *parser) at(punct string) bool {
	t := p.peek()
	return t.kind == punctuation && t.text == punct
}

func (p *parser) accept(punct string) bool {
	if !p.at(punct) {
		return false
	}
	p.pos++
	return true
}

func (p *parser) expect(kind tokenKind, what string) token {
	t := p.next()
	if t.kind != kind {
		p.fail("want %s, have %s", what, t)
	}
	return t
}

func (p *parser) expectPunctuation(punct string) {
	if t := p.next(); t.kind != punctuation || t.text != punct {
		p.fail("want %q, have %s", punct, t)
	}
}

// constant parses an integer constant: a literal or WARP_SZ, with signs and sums.
func (p *parser) constant() uint64 {
	n := p.term()
	for {
		switch {
		case p.accept("+"):
			n += p.term()
		case p.accept("-"):
			n -= p.term()
		case p.accept("*"):
			n *= p.term()
		default:
			return n
		}
	}
}

func (p *parser) term() uint64 {
	switch {
	case p.accept("-"):
		return -p.term()
	case p.accept("~"):
		return ^p.term()
	}
	if t := p.peek(); t.kind == identifier && t.text == "WARP_SZ" {
		p.next()
		return warpSize
	}
	return p.expect(integer, "an integer").value
}

// skipParentheses skips a balanced (...), if present.
func (p *parser) skipParentheses() {
	if !p.accept("(") {
		return
	}
	for depth := 1; depth > 0; {
		t := p.next()
		switch {
		case t.kind == endOfText:
			p.fail("parenthesis is not closed")
		case t.kind == punctuation && t.text == "(":
			depth++
		case t.kind == punctuation && t.text == ")":
			depth--
		}
	}
}

// skipLine skips the remaining tokens on the given line. It ends .file and .loc, which
// have no semicolon.
func (p *parser) skipLine(line int32) {
	for p.peek().kind != endOfText && p.peek().line == line {
		p.pos++
	}
}

func (p *parser) moduleItem() {
	t := p.next()
	if t.kind != dotted {
		p.fail("want a directive, have %s", t)
	}
	switch t.text {
	case "version":
		p.module.Version = p.rawLine(t.line)
	case "target":
		p.module.Target = p.rawLine(t.line)
	case "address_size":
		if n := p.expect(integer, "64").value; n != 64 {
			p.fail("address size %d is not supported; want 64", n)
		}
	case "file":
		p.file(t.line)
	case "pragma":
		p.skipStatement()
	case "section":
		p.skipSection()
	case "visible", "extern", "weak", "common":
		// Ignore linkage: one module is the whole program.
	case "global":
		p.moduleVariables(globalSpace)
	case "const":
		p.moduleVariables(constSpace)
	case "shared":
		for _, v := range p.declaration(sharedSpace, true) {
			p.shared = v.place(p.shared)
			p.checkSize(sharedSpace, p.shared, maxShared)
			p.declare(v.name, v)
		}
	case "entry":
		p.entry()
	case "func":
		p.fail("device functions (.func) are not supported; inline the calls")
	default:
		p.fail("directive .%s is not supported", t.text)
	}
}

func (p *parser) checkSize(sp space, size, limit int) {
	if size > limit {
		p.fail("%d bytes of %s memory: the limit is %d", size, sp, limit)
	}
}

// rawLine joins the remaining tokens on a line, as in ".target sm_50, debug".
func (p *parser) rawLine(line int32) string {
	var text strings.Builder
	for p.peek().kind != endOfText && p.peek().line == line {
		if t := p.peek(); t.kind == dotted && t.text != "" && (t.text[0] < '0' || t.text[0] > '9') {
			break
		}
		text.WriteString(p.next().String())
	}
	return text.String()
}

func (p *parser) file(line int32) {
	n := p.expect(integer, "a file number").value
	name := p.expect(quoted, "a file name").text
	if plain, err := strconv.Unquote(`"` + name + `"`); err == nil { // PTX is ASCII
		name = plain
	}
	p.module.files[n] = name
	p.skipLine(line)
}

func (p *parser) skipStatement() {
	for !p.accept(";") {
		if p.next().kind == endOfText {
			p.fail("want \";\", have end of text")
		}
	}
}

func (p *parser) skipSection() {
	for !p.accept("{") {
		if p.next().kind == endOfText {
			p.fail("section has no body")
		}
	}
	for !p.accept("}") {
		if p.next().kind == endOfText {
			p.fail("section is not closed")
		}
	}
}

func (p *parser) moduleVariables(sp space) {
	for _, v := range p.declaration(sp, true) {
		p.declare(v.name, v)
		p.module.variables = append(p.module.variables, v)
	}
}

func (p *parser) declare(name string, symbol any) {
	if !p.scope.add(name, symbol) {
		p.fail("%s is declared twice", name)
	}
}

// scope maps the names declared in one { } block.
type scope struct {
	outer  *scope
	names  map[string]any // *register, *variable, *label or *branchTable
	ranges []registerRange
}

// registerRange is a declaration such as %r<10>, which names prefix0 to prefix9.
type registerRange struct {
	prefix string
	count  uint64
	typ    dataType
}

type register struct {
	slot int32
	typ  dataType
}

// label is a branch target. pc is -1 until the definition is parsed.
type label struct{ pc int32 }

func newScope(outer *scope) *scope { return &scope{outer: outer, names: make(map[string]any)} }

func (s *scope) add(name string, symbol any) bool {
	if _, ok := s.names[name]; ok {
		return false
	}
	s.names[name] = symbol
	return true
}

// lookup returns the meaning of name, or nil. A register in a range has no slot when it is
// first looked up.
func (s *scope) lookup(name string) any {
	for ; s != nil; s = s.outer {
		if symbol, ok := s.names[name]; ok {
			return symbol
		}
		for _, r := range s.ranges {
			if r.contains(name) {
				reg := &register{slot: -1, typ: r.typ}
				s.names[name] = reg
				return reg
			}
		}
	}
	return nil
}

func (r registerRange) contains(name string) bool {
	digits, ok := strings.CutPrefix(name, r.prefix)
	if !ok || digits == "" || len(digits) > 1 && digits[0] == '0' {
		return false
	}
	n, err := strconv.ParseUint(digits, 10, 32)
	return err == nil && n < r.count
}
