package frontend

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// constants evaluates options that are constant Go expressions, such as blockSize or
// tiles.Side*2, in the scope of a declaration. The zero value only checks the form of a
// directive: it treats any expression as a valid number.
type constants struct {
	in  *Package  // nil in the zero value
	pos token.Pos // of the declaration
}

// eval evaluates an expression or type.
func (c constants) eval(text string) (types.TypeAndValue, error) {
	if err := c.in.checkOption(text); err != nil {
		return types.TypeAndValue{}, err
	}
	return types.Eval(c.in.world.Fset, c.in.Types, c.pos, text)
}

// constantsOf returns constants for a declaration of the package.
func (l *lowering) constantsOf(fd *ast.FuncDecl) constants {
	return constants{l.pkg, fd.Pos()}
}

// integer returns the value of an expression, or an error that says what is wrong.
func (c constants) integer(text string) (n int64, err error) {
	tv, err := c.eval(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%s%s", reasonOf(err), c.suggest(text))
	case tv.Value == nil:
		return 0, fmt.Errorf("%s is not a constant", text)
	}
	value := constant.ToInt(tv.Value)
	if value.Kind() != constant.Int {
		return 0, fmt.Errorf("%s is %s, not a whole number", text, tv.Value)
	}
	n, exact := constant.Int64Val(value)
	if !exact {
		return 0, fmt.Errorf("%s is %s, which is too large", text, value)
	}
	return n, nil
}

// number returns the value of an option that is a number from least to most.
func (c constants) number(option, text string, least, most int) (int, error) {
	n, err := strconv.Atoi(text)
	shown := option + "=" + text
	if err != nil {
		if c.in == nil && isExpression(text) {
			return least, nil
		}
		if !isExpression(text) {
			return 0, fmt.Errorf("%s: it takes a number from %d to %d", shown, least, most)
		}
		value, err := c.integer(text)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", shown, err)
		}
		n = clamp(value)
		shown += fmt.Sprintf(", which is %d", value)
	}
	if n < least || n > most {
		return 0, fmt.Errorf("%s: it takes a number from %d to %d", shown, least, most)
	}
	return n, nil
}

// extent returns up to three positive numbers in the value of an option, and the value
// as messages show it.
func (c constants) extent(option, text string) (extent [3]int, shown string, err error) {
	extent = [3]int{1, 1, 1}
	shown = option + "=" + text
	parts := dimensions(text)
	if len(parts) > 3 {
		return extent, shown, fmt.Errorf("%s has more than three dimensions", shown)
	}
	literal := true
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil && isExpression(part) {
			if c.in == nil {
				continue
			}
			value, err := c.integer(part)
			if err != nil {
				return extent, shown, fmt.Errorf("%s: %w%s", shown, err, c.joined(option, text))
			}
			n, literal = clamp(value), false
		} else if err != nil {
			return extent, shown, fmt.Errorf("%s: %q is not a positive number", shown, part)
		}
		if n < 1 {
			return extent, shown, fmt.Errorf("%s: %q%s is not a positive number", shown, part, map[bool]string{false: fmt.Sprintf(", which is %d,", n)}[literal])
		}
		extent[i] = n
	}
	if !literal {
		text := fmt.Sprint(extent[0])
		for _, n := range extent[1:max(1, len(parts))] {
			text += fmt.Sprintf("x%d", n)
		}
		shown += ", which is " + text + ","
	}
	return extent, shown, nil
}

func clamp(n int64) int { return int(min(max(n, math.MinInt32), math.MaxInt32)) }

// numbers matches an extent that consists of numbers only.
var numbers = regexp.MustCompile(`^[0-9]+(x[0-9]*)+$`)

// dimensions splits an extent: numbers at each x, as in 16x16, and expressions at
// commas, as in width,height.
func dimensions(text string) []string {
	if numbers.MatchString(text) {
		return strings.Split(text, "x")
	}
	var parts []string
	for _, w := range splitWord(word{text: text}, ',') {
		parts = append(parts, w.text)
	}
	return parts
}

// isExpression reports whether a text is a Go expression that contains a name.
func isExpression(text string) bool {
	e, err := parser.ParseExpr(text)
	if err != nil {
		return false
	}
	named := false
	ast.Inspect(e, func(n ast.Node) bool {
		_, ok := n.(*ast.Ident)
		named = named || ok
		return !named
	})
	return named
}

// joined returns the advice for constants that are joined by x like numbers.
func (c constants) joined(option, text string) string {
	for i := range len(text) {
		if text[i] != 'x' || i == 0 || i == len(text)-1 {
			continue
		}
		_, errX := c.integer(text[:i])
		_, errY := c.integer(text[i+1:])
		if errX == nil && errY == nil {
			return fmt.Sprintf("; separate constants with commas, as in %s=%s,%s", option, text[:i], text[i+1:])
		}
	}
	return ""
}

// suggest returns advice to use the constant whose name is most similar to an unknown
// one, or "".
func (c constants) suggest(text string) string {
	e, err := parser.ParseExpr(text)
	if err != nil {
		return ""
	}
	best, least := "", 0
	consider := func(name string, scope *types.Scope, qualifier string) {
		for _, other := range scope.Names() {
			k, ok := scope.Lookup(other).(*types.Const)
			if !ok || qualifier != "" && !k.Exported() || constant.ToInt(k.Val()).Kind() != constant.Int {
				continue
			}
			if d := edits(strings.ToLower(name), strings.ToLower(other)); d <= max(1, len(name)/3) && (best == "" || d < least) {
				best, least = qualifier+other, d
			}
		}
	}
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			id, ok := n.X.(*ast.Ident)
			if !ok {
				return true
			}
			_, obj := c.in.Types.Scope().Innermost(c.pos).LookupParent(id.Name, token.NoPos)
			if p, ok := obj.(*types.PkgName); ok && p.Imported().Scope().Lookup(n.Sel.Name) == nil {
				consider(n.Sel.Name, p.Imported().Scope(), id.Name+".")
			}
			return false
		case *ast.Ident:
			if c.in.Types.Scope().Lookup(n.Name) == nil && types.Universe.Lookup(n.Name) == nil {
				consider(n.Name, c.in.Types.Scope(), "")
			}
		}
		return true
	})
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// edits returns the number of letters to insert, delete or replace to change a into b.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		previous := slices.Clone(row)
		row[0] = i + 1
		for j := range len(b) {
			row[j+1] = min(previous[j+1], row[j]) + 1
			if a[i] == b[j] {
				row[j+1] = min(row[j+1], previous[j])
			} else {
				row[j+1] = min(row[j+1], previous[j]+1)
			}
		}
	}
	return row[len(b)]
}
