package gpu

import (
	"strings"

	"quern.dev/internal/compiler"
	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/ptx"
)

// Compile compiles the kernel with the given name in one file of Go source
// text, for use on any device. If the file has one kernel only, name may be
// empty. The name of an instance of a generic kernel has its type arguments, as in
// "scale[float32]". The text is what quern gen would read: a package clause, imports of
// package kernel and of the standard library, and functions. Its errors are
// those of quern vet, all at once.
//
// Arguments are checked when the kernel is launched with [Kernel.Launch]. On the
// CPU device a kernel compiled at run time is interpreted, which is slow.
// Functions of package math that are not single instructions need the standard
// library's source, that is, a Go installation.
//
// Compile may be called from several goroutines.
func (d *Device) Compile(src, name string) (*Kernel, error) {
	if err := d.check(); err != nil {
		return nil, driverError("compile", err)
	}
	k, err := compiler.Text("kernel.go", src, name)
	if err != nil {
		return nil, err
	}
	info := KernelInfo{
		Name:    k.IR.Name,
		Entry:   k.Variants[0].Entry,
		Package: compiledPackage,
		Pos:     k.IR.Func.Pos.String(),
		Code:    &Code{Text: k.PTX()},
		Block:   Dim3{X: k.IR.Options.Block[0], Y: k.IR.Options.Block[1], Z: k.IR.Options.Block[2]},
		Shared:  k.Variants[0].SharedBytes,
		Cluster: Dim3{X: k.IR.Options.Cluster[0], Y: k.IR.Options.Cluster[1], Z: k.IR.Options.Cluster[2]},

		Cooperative: k.Variants[0].Cooperative,
	}
	info.Variants = variants(k)
	for _, s := range k.Special {
		info.Special = append(info.Special, Special{
			Name: s.Name, Section: s.IR.Name, Entry: s.Variants[0].Entry, Limits: s.Limits,
			Variants: variants(s.Kernel), Shared: s.Variants[0].SharedBytes,
		})
	}
	for _, f := range k.IR.Formats {
		format := Format{Text: f.Text}
		for _, a := range f.Args {
			format.Args = append(format.Args, a.String())
		}
		info.Formats = append(info.Formats, format)
	}
	for _, v := range k.IR.Func.Params {
		p := Param{Name: v.Name, Kind: Scalar, Type: v.Type.Kind.String(), Size: int(v.Type.Size())}
		switch {
		case v.Type.Kind == ir.Slice:
			p.Kind, p.Type, p.Size = Slice, v.Type.Elem.String(), int(v.Type.Elem.Size())
		case strings.HasPrefix(v.Type.Name, textureName):
			p.Kind, p.Type = Texture, strings.TrimSuffix(v.Type.String()[strings.IndexByte(v.Type.String(), '[')+1:], "]")
		case v.Type.IsAggregate() || v.Type.IsHalf():
			p.Kind, p.Type = Struct, v.Type.String()
		}
		info.Params = append(info.Params, p)
	}
	return NewKernel(info), nil
}

// compiledPackage is the package of kernels that are compiled at run time.
const compiledPackage = "main"

// textureName begins the name of the type of every texture.
const textureName = "quern.dev/kernel.Texture2D["

func variants(k *compiler.Kernel) []Variant {
	var list []Variant
	for _, v := range k.Variants {
		list = append(list, Variant{Name: v.Name, Limits: v.Limits, Sites: sites(v.Module), Threads: v.Threads, Adjacent: v.Adjacent})
	}
	return list
}

func sites(m *ptx.Module) []Site {
	out := make([]Site, len(m.Sites))
	for i, s := range m.Sites {
		out[i] = Site{Kind: SiteKind(s.Kind), File: s.File, Line: s.Line, Col: s.Col, Text: s.Text}
	}
	return out
}
