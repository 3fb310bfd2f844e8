package gpu

import "quern.dev/gpu/compiled"
import "testing"

func TestFilesOfFaultsAreNamedByTheirPackages(t *testing.T) {
	info := kernelInfo{Kernel: compiled.Kernel{Package: "example.com/app/filters", Variants: []compiled.Variant{
		{Name: "narrow", Sites: []compiled.Site{{File: "blur.go"}}},
		{Name: "wide", Sites: []compiled.Site{{File: "blur.go"}, {File: "example.com/app/math/clamp.go"}}},
	}}}
	const own, other = "example.com/app/filters/blur.go", "example.com/app/math/clamp.go"
	for _, test := range []struct{ what, file, pkg, want string }{
		{"GPU code of the package", "blur.go", "", own},
		{"GPU code of another package", other, "", other},
		{"a function of the package", "/home/me/src/blur.go", "example.com/app/filters", own},
		{"a function of the package, with -trimpath", own, "example.com/app/filters", own},
		{"a function of a main package", "/home/me/src/blur.go", "main", own},
		{"a line directive", "blur.go", "example.com/app/filters", own},
		{"a function of another package", "C:/src/math/clamp.go", "example.com/app/math", other},
		{"a function of another version", "/mod/example.com/app@v1.2.3/math/clamp.go", "example.com/app/math", other},
		{"what was put in of another package", other, "example.com/app/filters", other},
		{"what was put in of another package, behind a path", "/home/me/src/" + other, "main", other},
		{"nothing", "", "", ""},
	} {
		if got := info.sourceFile(test.file, test.pkg); got != test.want {
			t.Errorf("%s: %q, want %q", test.what, got, test.want)
		}
	}
	info.Package = compiledPackage
	if got := info.sourceFile("kernel.go", ""); got != "kernel.go" {
		t.Errorf("of a kernel compiled at run time: %q", got)
	}
}

func TestKernelErrorsNameTheLastElementOfTheImportPath(t *testing.T) {
	e := &KernelError{Kernel: "blur", File: "example.com/app/filters/blur.go", Line: 16, Reason: "integer divide by zero"}
	for _, want := range []string{
		"filters/blur.go:16: kernel blur: integer divide by zero in block (0,0,0) thread (0,0,0)",
		"filters/blur.go:16: handler blur: integer divide by zero in block (0,0,0) thread (0,0,0)",
		"blur.go:16: handler blur: integer divide by zero in block (0,0,0) thread (0,0,0)",
		"handler blur: integer divide by zero in block (0,0,0) thread (0,0,0)",
	} {
		if e.Error() != want {
			t.Errorf("got  %v\nwant %s", e, want)
		}
		switch {
		case !e.Handler:
			e.Handler = true
		case e.File == "blur.go":
			e.File = ""
		default:
			e.File = "blur.go"
		}
	}
}
