package generate

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// hostCode is the Go form of a kernel: functions, which refer to each other.
type hostCode struct {
	kernel string // its name
	form   string // "Host", "Plain"; "" if other code refers to the functions by their names
	text   string
}

// mergeable are the types that a type parameter of merged functions can stand for. All of
// them have the operators of Go that generated code applies to values whose type differs
// between functions. It uses no such value where Go wants a constant, and ranges over none.
var mergeable = strings.Fields("int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 float32 float64")

// merge returns the text of all functions, and Go expressions for the functions whose names
// are not their expressions. Functions that differ only in names of local variables and in
// numeric types become one function, which is generic if types differ. Constraints are the
// exact unions of these types: Go compiles the code for each of them, as it would without type
// parameters.
//
// Two places of a generic function have the same type parameter if their types are equal in
// each of the functions that it replaces. It therefore has the right types because they have.
func merge(list []hostCode) (text string, expressions map[string]string) {
	m := &merger{named: map[string]*hostFunction{}, classes: map[string]*mergeClass{}, taken: map[string]bool{}}
	for _, code := range list {
		m.functions = append(m.functions, split(code)...)
	}
	for _, f := range m.functions {
		m.named[f.name], m.taken[f.name] = f, true
	}
	callees := map[int][]*hostFunction{} // by height
	for _, f := range m.functions {
		h := m.height(f)
		callees[h] = append(callees[h], f)
	}
	for h := 1; len(callees[h]) > 0; h++ {
		m.classify(callees[h])
	}
	expressions = map[string]string{}
	named := &structs{names: map[string]string{}}
	var b strings.Builder
	for _, f := range m.functions {
		if f.class.of[0] == f {
			b.WriteString("\n" + grouped(named.replace(f.class.write(), f.class.params)))
		}
		if e := f.expression(); e != f.name {
			expressions[f.name] = e
		}
	}
	return named.text.String() + b.String(), expressions
}

type merger struct {
	functions []*hostFunction // in the order of the file
	named     map[string]*hostFunction
	classes   map[string]*mergeClass // by shape
	taken     map[string]bool        // names of functions
}

// hostFunction is a function of the Go form of a kernel.
type hostFunction struct {
	name  string
	text  string   // with its comments
	fixed bool     // other code refers to its name
	short string   // its name without the types of the kernel's instance
	types []string // the numeric types in its shape
	class *mergeClass

	height int // 1 if it calls no others; negative while it is computed
}

// mergeClass is a list of functions of the same shape, which become one.
type mergeClass struct {
	of   []*hostFunction
	text string // of the first, with marks for its name and the numeric types

	name   string
	types  []string // at the marks
	params []string // type parameters
	values [][]string
}

// Marks for the function, for type i and for local name i in a shape. They are identifiers.
const (
	functionMark = "quern_function_"
	typeMark     = "quern_type_"
	localMark    = "quern_local_"
)

var (
	marks      = regexp.MustCompile(`(\bfunc |// )?(?:(` + functionMark + `)|` + typeMark + `(\d+)_)`)
	definition = regexp.MustCompile(`(?m)^((?://.*\n)*)func (\w+)\(`)
)

// split divides the Go form of a kernel into its functions.
func split(code hostCode) (list []*hostFunction) {
	found := definition.FindAllStringSubmatchIndex(code.text, -1)
	base, _, _ := strings.Cut(code.kernel, "[")
	for i, at := range found {
		end := len(code.text)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		name := code.text[at[4]:at[5]]
		f := &hostFunction{name: name, text: strings.TrimSpace(code.text[at[0]:end]) + "\n", fixed: code.form == "", short: name}
		if cut, ok := strings.CutSuffix(name, suffix(code.kernel)); ok {
			f.short = cut + suffix(base)
		}
		list = append(list, f)
	}
	return list
}

// suffix returns how the names of a kernel's functions end.
func suffix(kernel string) string { return strings.TrimPrefix(hostName(kernel), "quernHost") }

// height returns the length of the longest chain of calls that begins with a function.
func (m *merger) height(f *hostFunction) int {
	if f.height != 0 {
		f.fixed = f.fixed || f.height < 0 // it calls itself
		return f.height
	}
	f.height = -1
	most := 0
	for _, name := range identifiers(f.text) {
		if g := m.named[name]; g != nil && g != f {
			most = max(most, m.height(g))
		}
	}
	f.height = most + 1
	return f.height
}

// classify divides functions, whose callees have classes, into classes.
func (m *merger) classify(list []*hostFunction) {
	var added []*mergeClass
	for _, f := range list {
		text, shape := m.open(f)
		c := m.classes[shape]
		if c == nil || f.fixed || constrained(shape) {
			c = &mergeClass{text: text}
			added = append(added, c)
			if !f.fixed {
				m.classes[shape] = c
			}
		}
		c.of, f.class = append(c.of, f), c
	}
	for _, c := range added {
		first := c.of[0]
		c.name = first.name
		if len(c.of) > 1 && !m.taken[first.short] {
			c.name = first.short
			m.taken[c.name] = true
		}
		c.parameters()
	}
}

// open replaces the name of a function and its numeric types by marks, and the functions that it
// calls by their expressions. In its shape, local names are replaced too.
func (m *merger) open(f *hostFunction) (text, shape string) {
	replaced := func(source string, mark func(at int, name string) string) string {
		var b strings.Builder
		done := 0
		for at, name := range identifiers(source) {
			if s := mark(at, name); s != name {
				b.WriteString(source[done:at] + s)
				done = at + len(name)
			}
		}
		return b.String() + source[done:]
	}
	text = strings.Replace(f.text, "// "+f.name+" ", "// "+functionMark+" ", 1)
	text = replaced(text, func(_ int, name string) string {
		if g := m.named[name]; g != nil && g != f && g.class != nil {
			return g.expression()
		}
		return name
	})
	local := locals(text)
	numbers := map[string]int{}
	shape = replaced(text, func(at int, name string) string {
		switch n, ok := numbers[name]; {
		case !local[at]:
			return name
		case !ok:
			numbers[name] = len(numbers)
			n = numbers[name]
			fallthrough
		default:
			return fmt.Sprintf("%s%d_", localMark, n)
		}
	})
	types := func(_ int, name string) string {
		switch {
		case name == f.name:
			return functionMark
		case slices.Contains(mergeable, name):
			f.types = append(f.types, name)
			return fmt.Sprintf("%s%d_", typeMark, len(f.types)-1)
		}
		return name
	}
	text = replaced(text, types)
	f.types = nil
	return text, replaced(shape, types)
}

// locals returns the offsets of the names in a function that it declares itself.
func locals(text string) map[int]bool {
	const before = "package p\n"
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", before+text, 0)
	if err != nil {
		return nil
	}
	found := map[int]bool{}
	ast.Inspect(file.Decls[0], func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.StructType:
			return false
		case *ast.FuncDecl:
			n.Name.Obj = nil
		case *ast.CompositeLit: // keys may be fields
			for _, e := range n.Elts {
				if pair, ok := e.(*ast.KeyValueExpr); ok {
					if key, ok := pair.Key.(*ast.Ident); ok {
						key.Obj = nil
					}
				}
			}
		case *ast.Ident:
			if n.Obj != nil {
				found[files.PositionFor(n.Pos(), false).Offset-len(before)] = true
			}
		}
		return true
	})
	return found
}

// identifiers iterates over the identifiers of Go text and their offsets.
func identifiers(text string) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		var s scanner.Scanner
		file := token.NewFileSet().AddFile("", -1, len(text))
		s.Init(file, []byte(text), nil, 0)
		for {
			pos, tok, name := s.Scan()
			if tok == token.EOF || tok == token.IDENT && !yield(file.Offset(pos), name) {
				return
			}
		}
	}
}

// constrained reports whether functions instantiate another one with a type that is made of open
// types, such as an array. A type parameter satisfies the constraints that all its types satisfy,
// but an array of it satisfies only constraints without a list of types.
func constrained(shape string) bool {
	for _, m := range instantiation.FindAllStringSubmatchIndex(shape, -1) {
		if slices.Contains(unconstrained, shape[m[2]:m[3]]) {
			continue
		}
		depth, from := 0, m[1]
		for at := from; at < len(shape) && depth >= 0; at++ {
			switch c := shape[at]; {
			case c == '[' || c == '(' || c == '{':
				depth++
				continue
			case c == ']' || c == ')' || c == '}':
				depth--
			case c != ',' || depth > 0:
				continue
			}
			if depth > 0 || depth == 0 && shape[at] != ',' {
				continue
			}
			argument := strings.TrimSpace(shape[from:at])
			if strings.Contains(argument, typeMark) && !wholeType.MatchString(argument) {
				return true
			}
			from = at + 1
		}
	}
	return false
}

var (
	instantiation = regexp.MustCompile(`\b(\w+)\[`) // or an index
	wholeType     = regexp.MustCompile(`^` + typeMark + `\d+_$`)
	unconstrained = []string{"Slice", "Value", "Shared", "Scratch"} // of package kernel/host
)

// write returns the text of the function.
func (c *mergeClass) write() string {
	constraints := ""
	if len(c.params) > 0 {
		for i, p := range c.params {
			constraints += ", " + p + " " + strings.Join(distinct(c.values, i), " | ")
		}
		constraints = "[" + constraints[len(", "):] + "]"
	}
	return marks.ReplaceAllStringFunc(c.text, func(mark string) string {
		m := marks.FindStringSubmatch(mark)
		switch {
		case m[2] == "":
			i, _ := strconv.Atoi(m[3])
			return m[1] + c.types[i]
		case m[1] == "func ":
			return m[1] + c.name + constraints
		case m[1] == "" && len(c.params) > 0: // it calls itself
			return c.name + "[" + strings.Join(c.params, ", ") + "]"
		}
		return m[1] + c.name
	})
}

// expression returns the Go expression for a function.
func (f *hostFunction) expression() string {
	c := f.class
	if len(c.params) == 0 {
		return c.name
	}
	return c.name + "[" + strings.Join(c.values[slices.Index(c.of, f)], ", ") + "]"
}

var parameterNames = strings.Fields("T U V W X Y Z")

// parameters finds the type parameters of the function, and their values in each of the functions
// that it replaces.
func (c *mergeClass) parameters() {
	used := map[string]bool{}
	for _, name := range identifiers(c.text) {
		used[name] = true
	}
	c.values = make([][]string, len(c.of))
	c.types = slices.Clone(c.of[0].types)
	parameter := map[string]string{} // by values
	for i := range c.types {
		var values []string
		same := true
		for _, f := range c.of {
			values = append(values, f.types[i])
			same = same && f.types[i] == c.types[i]
		}
		if same {
			continue
		}
		key := strings.Join(values, " ")
		if parameter[key] == "" {
			name := "T" + strconv.Itoa(len(c.params))
			if len(c.params) < len(parameterNames) {
				name = parameterNames[len(c.params)]
			}
			parameter[key] = fresh(name, used)
			c.params = append(c.params, parameter[key])
			for n, value := range values {
				c.values[n] = append(c.values[n], value)
			}
		}
		c.types[i] = parameter[key]
	}
}

// distinct returns the different values of column i, in the order of the rows.
func distinct(rows [][]string, i int) []string {
	var values []string
	for _, row := range rows {
		if !slices.Contains(values, row[i]) {
			values = append(values, row[i])
		}
	}
	return values
}
