package generate

import (
	"fmt"
	"go/types"

	"quern.dev/gpu/compiled"
	"quern.dev/internal/archive"
	"quern.dev/internal/compiler"
	"quern.dev/internal/compiler/frontend"
	"quern.dev/kernel"
)

// descriptions returns what the archive says about kernels.
func descriptions(p *frontend.Package, kernels []*compiler.Kernel) []archive.Kernel {
	list := make([]archive.Kernel, len(kernels))
	for i, k := range kernels {
		list[i] = archive.Kernel{Name: k.IR.Name, Section: k.IR.Func.Go.Name, Info: describe(p, k).Info()}
		if o := p.OperatorOf(k.IR.Name); o != nil {
			for _, of := range o.Kernels {
				if of.Kernel == declaredName(k) {
					list[i].Section = o.Kind + "." + of.Template
				}
			}
		}
	}
	return list
}

// describe returns the description of a kernel. Its name and package, and its functions, are in
// the Go file.
func describe(p *frontend.Package, k *compiler.Kernel) *compiled.Kernel {
	pos := k.IR.Func.Pos
	d := &compiled.Kernel{
		Pos:         fmt.Sprintf("%s:%d", pos.File, pos.Line),
		HostOnly:    k.IR.Options.Only == "cpu",
		Variants:    variants(k),
		Block:       dim3(k.IR.Options.Block),
		Shared:      k.Variants[0].SharedBytes,
		Cluster:     dim3(k.IR.Options.Cluster),
		Cooperative: k.Variants[0].Cooperative,
	}
	if a := p.ActorOf(k.IR.Name); a != nil {
		d.Handler = a.Handler
	}
	if entry := k.Variants[0].Entry; entry != k.IR.Name {
		d.Entry = entry
	}
	for _, par := range parameters(k, signatureOf(p, k), "", (*types.Package).Name, map[string]bool{}) {
		param := compiled.Param{Name: par.declared, Kind: par.kind, Type: par.shown, Size: int(par.size), ReadOnly: par.readOnly}
		if par.layout != par.shown {
			param.Layout = par.layout
		}
		d.Params = append(d.Params, param)
	}
	for _, f := range k.Special {
		d.Special = append(d.Special, compiled.Special{
			Name: f.Name, Section: f.IR.Name, Entry: f.Variants[0].Entry, Limits: f.Limits,
			Variants: variants(f.Kernel), Shared: f.Variants[0].SharedBytes,
		})
	}
	for _, f := range k.IR.Formats {
		format := compiled.Format{Text: f.Text}
		for _, a := range f.Args {
			format.Args = append(format.Args, a.String())
		}
		d.Formats = append(d.Formats, format)
	}
	return d
}

func variants(k *compiler.Kernel) []compiled.Variant {
	list := make([]compiled.Variant, len(k.Variants))
	for i, v := range k.Variants {
		list[i] = compiled.Variant{Name: v.Name, Limits: v.Limits, Adjacent: v.Adjacent}
		if v.Threads > 1 {
			list[i].Threads = v.Threads
		}
		for _, s := range v.Sites {
			list[i].Sites = append(list[i].Sites, compiled.Site{Kind: compiled.SiteKind(s.Kind), File: s.File, Line: s.Line, Col: s.Col, Text: s.Text})
		}
	}
	return list
}

func dim3(d [3]int) kernel.Dim3 { return kernel.Dim3{X: d[0], Y: d[1], Z: d[2]} }
