package gohost

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Imports collects the packages that the generated code of one file uses.
type Imports struct {
	pkg   string
	names map[string]string // by import path
	taken map[string]bool
}

// NewImports returns the imports of a file in the package with path pkg. Imported
// packages are not given the reserved names, such as those that the package declares.
func NewImports(pkg string, reserved ...string) *Imports {
	im := &Imports{pkg: pkg, names: map[string]string{}, taken: map[string]bool{}}
	for _, name := range reserved {
		im.taken[name] = true
	}
	return im
}

// Name imports a package and returns its name in the file.
func (im *Imports) Name(importPath string) string {
	if name, ok := im.names[importPath]; ok {
		return name
	}
	base := baseName(importPath)
	name := base
	for i := 2; im.taken[name]; i++ {
		name = base + strconv.Itoa(i)
	}
	im.taken[name] = true
	im.names[importPath] = name
	return name
}

// Local returns a name for a local variable, based on want, that hides neither an
// import nor a reserved name.
func (im *Imports) Local(want string) string {
	for im.taken[want] {
		want += "_"
	}
	return want
}

// Specs returns the import specifications, such as `"math"`, sorted by path. A name is
// stated if it might differ from the package's own.
func (im *Imports) Specs() []string {
	var paths []string
	for p := range im.names {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	specs := make([]string, len(paths))
	for i, p := range paths {
		specs[i] = strconv.Quote(p)
		if name := im.names[p]; name != path.Base(p) || !ownsName(p) {
			specs[i] = fmt.Sprintf("%s %q", name, p)
		}
	}
	return specs
}

// baseName returns the identifier suggested by the last element of an import path.
func baseName(importPath string) string {
	base := path.Base(importPath)
	if dir := path.Dir(importPath); isVersion(base) && dir != "." {
		base = path.Base(dir)
	}
	name := strings.Map(func(c rune) rune {
		if c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c) {
			return c
		}
		return -1
	}, base)
	if name == "" || unicode.IsDigit(rune(name[0])) {
		return "pkg" + name
	}
	return name
}

func isVersion(s string) bool {
	n, ok := strings.CutPrefix(s, "v")
	_, err := strconv.Atoi(n)
	return ok && err == nil
}

// ownsName reports whether a package is known to be named like the end of its path:
// this holds for the standard library and this module.
func ownsName(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".") || first == "quern.dev"
}
