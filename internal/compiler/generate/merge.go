package generate

import (
	"fmt"
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
	form   string // "Host", "Plain"
	text   string
}

// mergeable are the types that a type parameter of merged functions can stand for. All of
// them have the operators of Go that generated code applies to values whose type differs
// between instances. It uses no such value where Go wants a constant, and ranges over none.
var mergeable = strings.Fields("int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 float32 float64")

// merge returns the text of all functions, and Go expressions for the functions whose names
// are not their expressions. Instances of a kernel whose functions differ only in numeric
// types share generic functions. Their constraints are the exact unions of these types: Go
// compiles the code for each of them, as it would without type parameters.
//
// Two places of generic functions have the same type parameter if their types are equal in
// each instance. The generic functions therefore have the right types because the instances have.
func merge(list []hostCode) (text string, expressions map[string]string) {
	var classes []*mergeClass
	byShape, named := map[string]*mergeClass{}, map[string]bool{}
	for _, code := range list {
		shape, instance := openTypes(code)
		base, _, generic := strings.Cut(code.kernel, "[")
		generic = generic && !constrained(shape)
		if c := byShape[base+"\n"+shape]; generic && c != nil {
			c.instances = append(c.instances, instance)
			continue
		}
		c := &mergeClass{shape: shape, instances: []openInstance{instance}}
		if generic {
			byShape[base+"\n"+shape] = c
			if key := base + code.form; !named[key] {
				named[key] = true
				c.base = base
			}
		}
		classes = append(classes, c)
	}
	expressions = map[string]string{}
	var b strings.Builder
	for _, c := range classes {
		b.WriteString("\n" + c.write(expressions))
	}
	return b.String(), expressions
}

// mergeClass is a list of instances of a kernel whose functions have the same shape.
type mergeClass struct {
	shape     string
	base      string // the kernel, if its functions in this class are named after it
	instances []openInstance
}

// openInstance is what the shape of an instance's functions leaves open.
type openInstance struct {
	kernel    string
	functions []string // names
	types     []string
}

// Marks for function i and type i in a shape. They are identifiers.
const (
	functionMark = "quern_function_"
	typeMark     = "quern_type_"
)

var (
	marks      = regexp.MustCompile(`(\bfunc |// )?(` + functionMark + `|` + typeMark + `)(\d+)_`)
	definition = regexp.MustCompile(`(?m)^func (\w+)\(`)
	comments   = regexp.MustCompile(`(?m)^// (\w+) `)
)

// openTypes replaces the functions of a kernel and its numeric types by marks.
func openTypes(code hostCode) (shape string, in openInstance) {
	in.kernel = code.kernel
	number := map[string]int{}
	for _, m := range definition.FindAllStringSubmatch(code.text, -1) {
		number[m[1]] = len(in.functions)
		in.functions = append(in.functions, m[1])
	}
	text := comments.ReplaceAllStringFunc(code.text, func(comment string) string {
		name := strings.Trim(comment, "/ ")
		if i, ok := number[name]; ok {
			return fmt.Sprintf("// %s%d_ ", functionMark, i)
		}
		return comment
	})
	var b strings.Builder
	done := 0
	for at, name := range identifiers(text) {
		mark := ""
		if i, ok := number[name]; ok {
			mark = fmt.Sprintf("%s%d_", functionMark, i)
		} else if slices.Contains(mergeable, name) {
			mark = fmt.Sprintf("%s%d_", typeMark, len(in.types))
			in.types = append(in.types, name)
		} else {
			continue
		}
		b.WriteString(text[done:at] + mark)
		done = at + len(name)
	}
	return b.String() + text[done:], in
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

// write returns the text of the functions, and adds expressions for their instances.
func (c *mergeClass) write(expressions map[string]string) string {
	first := c.instances[0]
	names := slices.Clone(first.functions)
	if len(c.instances) > 1 && c.base != "" {
		ending, short := suffix(first.kernel), suffix(c.base)
		for i, name := range names {
			if cut, ok := strings.CutSuffix(name, ending); ok {
				names[i] = cut + short
			}
		}
	}
	types, params, arguments := c.parameters()
	constraints, list := "", ""
	if len(params) > 0 {
		list = "[" + strings.Join(params, ", ") + "]"
		for i, p := range params {
			constraints += ", " + p + " " + strings.Join(distinct(arguments, i), " | ")
		}
		constraints = "[" + constraints[len(", "):] + "]"
	}
	for n, in := range c.instances {
		for i, name := range in.functions {
			expression := names[i]
			if len(params) > 0 {
				expression += "[" + strings.Join(arguments[n], ", ") + "]"
			}
			if expression != name {
				expressions[name] = expression
			}
		}
	}
	return marks.ReplaceAllStringFunc(c.shape, func(mark string) string {
		m := marks.FindStringSubmatch(mark)
		i, _ := strconv.Atoi(m[3])
		switch {
		case m[2] == typeMark:
			return m[1] + types[i]
		case m[1] == "func ":
			return m[1] + names[i] + constraints
		case m[1] == "// ":
			return m[1] + names[i]
		}
		return names[i] + list
	})
}

// suffix returns how the names of a kernel's functions end.
func suffix(kernel string) string { return strings.TrimPrefix(hostName(kernel), "quernHost") }

// parameters returns the types of the functions, the type parameters among them, and their
// values in each instance.
func (c *mergeClass) parameters() (types, params []string, arguments [][]string) {
	used := map[string]bool{}
	for _, name := range identifiers(c.shape) {
		used[name] = true
	}
	arguments = make([][]string, len(c.instances))
	types = slices.Clone(c.instances[0].types)
	parameter := map[string]string{} // by values
	for i := range types {
		var values []string
		same := true
		for _, in := range c.instances {
			values = append(values, in.types[i])
			same = same && in.types[i] == types[i]
		}
		if same {
			continue
		}
		key := strings.Join(values, " ")
		if parameter[key] == "" {
			parameter[key] = fresh(string(rune('T'+len(params))), used)
			params = append(params, parameter[key])
			for n, value := range values {
				arguments[n] = append(arguments[n], value)
			}
		}
		types[i] = parameter[key]
	}
	return types, params, arguments
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
