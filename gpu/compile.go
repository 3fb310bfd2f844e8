package gpu

import (
	"context"
	"strings"

	"quern.dev/gpu/compiled"
	"quern.dev/internal/compiler"
	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/ptx"
)

// Compile compiles the named kernel of one Go source file, for use on any device. If
// the file has only one kernel, name may be empty. The name of an instance of a generic
// kernel includes its type arguments, as in "scale[float32]". The file has a package
// clause, imports of package kernel and the standard library, and functions, just as
// quern gen reads it. Compile returns all errors at once, in the form in which quern
// vet prints them.
//
// A program that keeps compiling new texts should close the kernels that it no longer
// needs ([Kernel.Close]). Other kernels are unloaded with their devices.
//
// [Kernel.Launch] checks the arguments. The CPU device interprets kernels that are
// compiled at run time, which is slow. Functions of package math that are not single
// instructions need the source of the standard library, that is, a Go installation.
//
// The text may have up to 1 MiB. A text that would take long to compile is an error:
// docs/launch.md lists the limits. When ctx ends, Compile returns its cause at once.
//
// Compile may be called from several goroutines.
func (d *Device) Compile(ctx context.Context, src, name string) (*Kernel, error) {
	if err := d.check(); err != nil {
		return nil, driverError("compile", err)
	}
	k, err := compileText(orBackground(ctx), src, name)
	if err != nil {
		return nil, err
	}
	return NewKernel(textInfo(k)), nil
}

// compileText returns when the text is compiled or ctx has ended. In the second case
// the compiler continues for a fraction of a second, until it polls ctx.
func compileText(ctx context.Context, src, name string) (*compiler.Kernel, error) {
	if ctx.Done() == nil {
		return compiler.Text(ctx, "kernel.go", src, name)
	}
	type result struct {
		kernel *compiler.Kernel
		err    error
	}
	done := make(chan result, 1)
	go func() {
		k, err := compiler.Text(ctx, "kernel.go", src, name)
		done <- result{k, err}
	}()
	select {
	case r := <-done:
		if r.err != nil && r.err == context.Cause(ctx) {
			return nil, driverError("compile", r.err)
		}
		return r.kernel, r.err
	case <-ctx.Done():
		return nil, driverError("compile", context.Cause(ctx))
	}
}

// textInfo describes a kernel that was compiled from a text.
func textInfo(k *compiler.Kernel) compiled.Kernel {
	info := compiled.Kernel{
		Name:    k.IR.Name,
		Entry:   k.Variants[0].Entry,
		Package: compiledPackage,
		Pos:     k.IR.Func.Pos.String(),
		Code:    &compiled.Code{Modules: k.Modules()},
		Block:   Dim3{X: k.IR.Options.Block[0], Y: k.IR.Options.Block[1], Z: k.IR.Options.Block[2]},
		Shared:  k.Variants[0].SharedBytes,
		Cluster: Dim3{X: k.IR.Options.Cluster[0], Y: k.IR.Options.Cluster[1], Z: k.IR.Options.Cluster[2]},

		Cooperative: k.Variants[0].Cooperative,
	}
	info.Variants = variants(k)
	for _, s := range k.Special {
		info.Special = append(info.Special, compiled.Special{
			Name: s.Name, Section: s.IR.Name, Entry: s.Variants[0].Entry, Limits: s.Limits,
			Variants: variants(s.Kernel), Shared: s.Variants[0].SharedBytes,
		})
	}
	for _, f := range k.IR.Formats {
		format := compiled.Format{Text: f.Text}
		for _, a := range f.Args {
			format.Args = append(format.Args, a.String())
		}
		info.Formats = append(info.Formats, format)
	}
	// shown returns the name of a type, with the package name of the text in place of
	// the path that the compiler uses.
	own, _, _ := strings.Cut(k.IR.Func.Name, ".")
	shown := func(t *ir.Type) string {
		return strings.ReplaceAll(t.FullName(), k.IR.Func.Go.Package+".", own+".")
	}
	for i, v := range k.IR.Func.Params {
		p := compiled.Param{Name: v.Name, Kind: compiled.Scalar, Type: v.Type.Kind.String(), Size: int(v.Type.Size())}
		switch {
		case v.Type.Kind == ir.Slice:
			p.Kind, p.Type, p.Size = compiled.Slice, shown(v.Type.Elem), int(v.Type.Elem.Size())
			p.Layout = v.Type.Elem.Layout()
			p.ReadOnly = !k.Written[i]
		case strings.HasPrefix(v.Type.Name, textureName):
			p.Kind, p.Type = compiled.Texture, strings.TrimSuffix(strings.TrimPrefix(v.Type.Name, textureName), "]")
		case v.Type.IsAggregate() || v.Type.IsHalf():
			p.Kind, p.Type, p.Layout = compiled.Struct, shown(v.Type), v.Type.Layout()
		}
		if p.Layout == p.Type {
			p.Layout = ""
		}
		info.Params = append(info.Params, p)
	}
	return info
}

// compiledPackage is the package of kernels that are compiled at run time.
const compiledPackage = "main"

// textureName is the prefix of the type names of all textures.
const textureName = "quern.dev/kernel.Texture2D["

func variants(k *compiler.Kernel) []compiled.Variant {
	var list []compiled.Variant
	for _, v := range k.Variants {
		list = append(list, compiled.Variant{Name: v.Name, Limits: v.Limits, Sites: sites(v.Module), Threads: v.Threads, Adjacent: v.Adjacent})
	}
	return list
}

func sites(m *ptx.Module) []compiled.Site {
	out := make([]compiled.Site, len(m.Sites))
	for i, s := range m.Sites {
		out[i] = compiled.Site{Kind: compiled.SiteKind(s.Kind), File: s.File, Line: s.Line, Col: s.Col, Text: s.Text}
	}
	return out
}
