package frontend

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/ptxvm"
)

// assemblyVerb begins the directives that give a function GPU instructions.
const assemblyVerb = "ptx"

// assembly reads the //quern:ptx directives of a function; nil if there are none, or
// invalid ones.
func (l *lowering) assembly(fd *ast.FuncDecl, f *ir.Func) *ir.Assembly {
	a := &ir.Assembly{}
	var first directive
	var at []token.Pos // of the lines
	for _, dir := range directives(fd.Doc) {
		if dir.verb != assemblyVerb {
			continue
		}
		if first.verb == "" {
			first = dir
		}
		before := len(a.Lines)
		if err := addLine(a, dir.args); err != nil {
			l.errorAt(dir.pos, "", "%v", err)
			return nil
		}
		if len(a.Lines) > before {
			at = append(at, dir.args[0].pos)
		}
	}
	if first.verb == "" {
		return nil
	}
	bad := func(format string, args ...any) *ir.Assembly {
		l.errorAt(first.pos, "", "//quern:ptx: "+format, args...)
		return nil
	}
	names := map[string]bool{}
	for _, list := range [...][]*ir.Local{f.Params, f.Results} {
		for _, v := range list {
			if !v.Type.IsInteger() && !v.Type.IsFloat() {
				return bad("%s has type %s; instructions take and give numbers", v.Name, v.Type)
			}
			names["$"+v.Name] = true
		}
	}
	switch {
	case fd.Recv != nil:
		return bad("%s is a method; instructions stand for functions", fd.Name.Name)
	case fd.Type.TypeParams != nil:
		return bad("%s has type parameters; write one function for each type", fd.Name.Name)
	case f.UsesThread:
		return bad("%s uses the thread; instructions stand for functions of numbers", fd.Name.Name)
	case len(a.Lines) == 0:
		return bad("there are no instructions")
	}
	text := strings.Join(a.Lines, "\n")
	for _, name := range ir.OperandName.FindAllString(text, -1) {
		if !names[name] {
			return bad("%s is neither a parameter nor a named result of %s", name, fd.Name.Name)
		}
	}
	for _, v := range f.Results {
		if !slices.Contains(ir.OperandName.FindAllString(text, -1), "$"+v.Name) {
			return bad("no instruction gives the result; name it and write $name")
		}
	}
	wrong := braces(a)
	if wrong == nil {
		wrong = parseAssembly(a, f)
	}
	for _, e := range wrong {
		l.errorAt(at[e.Line], "", "//quern:ptx: %s", e.Message)
	}
	if wrong != nil {
		return nil
	}
	return a
}

// braces returns an error, with an index of a.Lines, if the braces of the instructions
// do not match: otherwise the parser would match them with braces outside.
func braces(a *ir.Assembly) ptxvm.ErrorList {
	open := 0
	for i, line := range a.Lines {
		if open += strings.Count(line, "{") - strings.Count(line, "}"); open < 0 {
			return ptxvm.ErrorList{{Line: i, Message: "the closing brace has no opening one"}}
		}
	}
	if open > 0 {
		return ptxvm.ErrorList{{Line: len(a.Lines) - 1, Message: "a brace is not closed"}}
	}
	return nil
}

// parseAssembly returns the errors in the instructions of a function, with indices of
// a.Lines. PTX that only the simulator does not support is accepted.
func parseAssembly(a *ir.Assembly, f *ir.Func) ptxvm.ErrorList {
	var b strings.Builder
	b.WriteString(".version 6.0\n.target sm_50\n.address_size 64\n.entry k()\n{\n")
	for _, list := range [...][]*ir.Local{f.Params, f.Results} {
		for _, v := range list {
			fmt.Fprintf(&b, ".reg %s $%s;\n", registerType(v.Type), v.Name)
		}
	}
	b.WriteString("{\n")
	first := strings.Count(b.String(), "\n") + 1
	for _, line := range a.Lines {
		b.WriteString(line + "\n")
	}
	b.WriteString("}\nret;\n}\n")
	_, err := ptxvm.Parse(b.String())
	var list, wrong ptxvm.ErrorList
	errors.As(err, &list)
	for _, e := range list {
		if !e.Unsupported {
			line := min(max(e.Line-first, 0), len(a.Lines)-1)
			wrong = append(wrong, &ptxvm.SyntaxError{Line: line, Message: e.Message})
		}
	}
	return wrong
}

// registerType returns the register type for a number.
func registerType(t *ir.Type) string {
	if t.IsFloat() {
		return fmt.Sprintf(".f%d", 8*t.Size())
	}
	return fmt.Sprintf(".b%d", max(32, 8*t.Size()))
}

// addLine reads the words of one directive: an instruction, or a requirement of all
// instructions.
func addLine(a *ir.Assembly, args []word) error {
	var words []string
	for _, w := range args {
		words = append(words, w.text)
	}
	if len(words) == 0 {
		return errors.New("//quern:ptx is followed by an instruction, .version or .target")
	}
	switch words[0] {
	case ".target":
		if len(words) != 2 || !targetName.MatchString(words[1]) {
			return errors.New("//quern:ptx .target is followed by one target, as sm_80")
		}
		n, err := strconv.Atoi(targetName.FindStringSubmatch(words[1])[1])
		a.Target = n
		return err
	case ".version":
		if len(words) != 2 || !versionNumber.MatchString(words[1]) {
			return errors.New("//quern:ptx .version is followed by one version, as 7.0")
		}
		n, err := strconv.Atoi(strings.Replace(words[1], ".", "", 1))
		a.Version = n
		return err
	}
	line := strings.Join(words, " ")
	if !strings.HasSuffix(line, ";") {
		return fmt.Errorf("//quern:ptx: the instruction %q does not end with a semicolon", line)
	}
	a.Lines = append(a.Lines, line)
	return nil
}

var (
	targetName    = regexp.MustCompile(`^sm_([1-9][0-9]{1,2})$`)
	versionNumber = regexp.MustCompile(`^[6-9]\.[0-9]$`)
)
