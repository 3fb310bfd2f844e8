package frontend

import (
	"go/ast"
	"regexp"
	"strings"
)

// LauncherName is the name of the function that launches a kernel: LaunchSaxpy
// for saxpy.
func LauncherName(kernel string) string { return "Launch" + capitalised(kernel) }

// generatedNames are the package-level names that are declared for a kernel in
// the generated file.
func generatedNames(kernel string) []string {
	c := capitalised(kernel)
	return []string{"Launch" + c, "quern" + c, "quernHost" + c}
}

func capitalised(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// entryName matches what can name the entry of a GPU module.
var entryName = regexp.MustCompile("^([a-zA-Z]|_[a-zA-Z0-9_])[a-zA-Z0-9_]*$")

// checkNames reports kernels whose names do not suit the GPU and names that the
// generated file would declare twice.
func (l *lowering) checkNames(kernels []*ast.FuncDecl) {
	taken := map[string]string{"quernPTX": "twice: for this kernel and for the GPU code"}
	if l.pkg.Types != nil {
		scope := l.pkg.Types.Scope()
		for _, name := range scope.Names() {
			taken[name] = "again, after " + l.pos(scope.Lookup(name).Pos()).String()
		}
	}
	for _, fd := range kernels {
		kernel := fd.Name.Name
		if !entryName.MatchString(kernel) {
			l.errorAt(fd.Name.Pos(), kernel, "the name of a kernel is also that of its GPU code, which has ASCII letters, digits and _ only")
			continue
		}
		if kernel == "WARP_SZ" {
			l.errorAt(fd.Name.Pos(), kernel, "the name of a kernel is also that of its GPU code, where WARP_SZ is reserved; rename it")
			continue
		}
		for _, name := range generatedNames(kernel) {
			if how, found := taken[name]; found {
				l.errorAt(fd.Name.Pos(), kernel, "quern_gen.go would declare %s %s; rename one of them", name, how)
				break
			}
			taken[name] = "twice: for this kernel and for kernel " + kernel
		}
	}
}
