package generate

import (
	"bytes"
	"fmt"
	"go/types"

	"quern.dev/internal/compiler"
	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/compiler/gohost"
)

// Paths of the packages that the code of actors uses.
const (
	kernelPath = "quern.dev/kernel"
	ringPath   = "quern.dev/ring"
	actorPath  = "quern.dev/ring/actor"
)

// actorNames are the names in the code that writeActor writes.
func actorNames(a *frontend.Actor) []string {
	return append(a.Names(), frontend.SpawnerName(a.Handler), programName(a), "ctx", "rt", "o")
}

func programName(a *frontend.Actor) string { return infoName(a.Handler) + "Program" }

// writeActor writes the kernel of an actor, which the front end has made up, and
// the function that makes actors with the handler.
func writeActor(b *bytes.Buffer, p *frontend.Package, k *compiler.Kernel, a *frontend.Actor, imports *gohost.Imports) {
	kernel, actor, ring, context := imports.Name(kernelPath), imports.Name(actorPath), imports.Name(ringPath), imports.Name("context")
	qualify := qualifier(p, imports)
	sig := p.Types.Scope().Lookup(a.Handler).(*types.Func).Signature()
	typ := func(i int) string {
		return types.TypeString(sig.Params().At(i).Type().(interface{ Elem() types.Type }).Elem(), qualify)
	}
	fmt.Fprintf(b, "\n%s", a.Source(kernel, actor, typ))

	fmt.Fprintf(b, "\nvar %s = &%s.Program{Name: %q, Kernel: %s, Threads: %d", programName(a), ring, a.Handler, infoName(a.Kernel), k.IR.Options.Block[0])
	if a.Data > 0 {
		fmt.Fprintf(b, ", Payload: %s.PayloadOf[%s]", ring, typ(a.Data))
	}
	b.WriteString("}\n")

	spawner := frontend.SpawnerName(a.Handler)
	fmt.Fprintf(b, "\n// %s makes an actor with the handler %s.\n", spawner, a.Handler)
	if doc := docOf(p, a.Handler); doc != "" {
		b.WriteString("//\n" + doc)
	}
	fmt.Fprintf(b, "func %s(ctx %s.Context, rt *%s.Runtime, o %s.Options) (*%s.Actor[%s, %s], error) {\n", spawner, context, ring, ring, ring, typ(a.In), typ(a.Out))
	fmt.Fprintf(b, "return %s.Spawn[%s, %s, %s](ctx, rt, %s, o)\n}\n", ring, typ(a.State), typ(a.In), typ(a.Out), programName(a))
}
