package frontend

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// LauncherName returns the name of the function that launches a kernel: LaunchSaxpy for
// saxpy.
func LauncherName(kernel string) string { return "Launch" + capitalised(kernel) }

// generatedNames returns the package-level names that the generated file declares for a
// kernel.
func generatedNames(kernel string) []string {
	c := capitalised(kernel)
	return []string{"Launch" + c, "quern" + c, "quernHost" + c, "quernPlain" + c, "quern_" + kernel}
}

// uncheckedSuffix ends the name of the kernel created by also=unchecked.
const uncheckedSuffix = "Unchecked"

// kernelNames returns the names of the kernels that a function with a directive
// declares.
func kernelNames(fd *ast.FuncDecl) []string {
	names := []string{fd.Name.Name}
	for _, dir := range directives(fd.Doc) {
		if dir.verb != "kernel" {
			continue
		}
		if o, _ := kernelOptions(dir.args, dir.verb); o.also {
			return append(names, fd.Name.Name+uncheckedSuffix)
		}
	}
	return names
}

// GenericKernels returns the names of the package's generic kernels. [Package.Lower]
// needs instances for them.
func (p *Package) GenericKernels() (names []string) {
	for _, f := range p.Files {
		for _, d := range f.Decls {
			fd, ok := d.(*ast.FuncDecl)
			if !ok || fd.Type.TypeParams == nil {
				continue
			}
			if slices.ContainsFunc(directives(fd.Doc), func(dir directive) bool { return dir.verb == "kernel" }) {
				names = append(names, kernelNames(fd)...)
			}
		}
	}
	return names
}

// instanceNames returns the names for an instance of a generic kernel, such as
// quernScale_float32 for scale[float32].
func instanceNames(instance string) []string {
	return generatedNames(ir.Identifier(instance))[1:]
}

func capitalised(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// entryName matches valid names of a GPU module's entry.
var entryName = regexp.MustCompile("^([a-zA-Z]|_[a-zA-Z0-9_])[a-zA-Z0-9_]*$")

// checkNames reports kernel names that are not valid on the GPU, and names that the
// generated file would declare twice.
func (l *lowering) checkNames(kernels []*ast.FuncDecl) {
	l.taken = map[string]string{
		"quernPTX":      "twice: for this kernel and for the GPU code",
		"quern_gen_zip": "twice: for this kernel and for the archive",
	}
	if l.pkg.Types != nil {
		scope := l.pkg.Types.Scope()
		for _, name := range scope.Names() {
			l.taken[name] = "again, after " + l.pos(scope.Lookup(name).Pos()).String()
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
		names, pos := generatedNames(kernel), fd.Name.Pos()
		if a := l.pkg.ActorOf(kernel); a != nil {
			names, pos, kernel = append([]string{names[1], names[4]}, handlerNames(a.Handler)...), a.pos, a.Handler
			if slices.ContainsFunc(kernels, func(fd *ast.FuncDecl) bool { return fd.Name.Name == a.Handler }) {
				continue // a handler that is also a kernel is already an error
			}
		}
		if o := l.pkg.OperatorOf(kernel); o != nil {
			names, pos, kernel = []string{names[1], names[2]}, o.pos, o.Func
			if o.Kernels[0].Kernel == fd.Name.Name {
				names = append(names, operatorNames(o.Func)...)
			}
		}
		l.declareNames(pos, kernel, names)
		for _, other := range kernelNames(fd)[1:] {
			l.declareNames(pos, other, generatedNames(other))
		}
	}
}

// declareNames reports the first of a kernel's names that is already in use.
func (l *lowering) declareNames(pos token.Pos, kernel string, names []string) {
	for _, name := range names {
		if how, found := l.taken[name]; found {
			l.errorAt(pos, kernel, "quern_gen.go would declare %s %s; rename one of them", name, how)
			return
		}
		l.taken[name] = "twice: for this kernel and for kernel " + kernel
	}
}
