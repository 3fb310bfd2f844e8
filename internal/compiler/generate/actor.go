package generate

import (
	"bytes"
	"fmt"
	"go/types"
	"strings"

	"quern.dev/internal/compiler"
	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/compiler/gohost"
)

// Import paths for the generated code of actors.
const (
	kernelPath = "quern.dev/kernel"
	ringPath   = "quern.dev/ring"
	actorPath  = "quern.dev/ring/actor"
)

// actorNames returns the names used in the code of writeActor.
func actorNames(a *frontend.Actor) []string {
	return append(a.Names(), a.Block, hostName(a.Handler), plainName(a.Handler), frontend.SpawnerName(a.Handler), programName(a), "ctx", "rt", "o")
}

func programName(a *frontend.Actor) string { return infoName(a.Handler) + "Program" }

// handlerType returns a function that prints the type that a parameter of the handler
// points to, or the element type of its payload memory.
func handlerType(p *frontend.Package, a *frontend.Actor, imports *gohost.Imports) func(i int) string {
	qualify := qualifier(p, imports)
	sig := p.Types.Scope().Lookup(a.Handler).(*types.Func).Signature()
	return func(i int) string {
		return types.TypeString(sig.Params().At(i).Type().(interface{ Elem() types.Type }).Elem(), qualify)
	}
}

// loopOf returns the function of package ring that creates the Go form of an actor's
// kernel from a function that handles a message.
func loopOf(a *frontend.Actor, imports *gohost.Imports) string {
	form := "Loop"
	switch {
	case a.Data > 0:
		form = "LoopWithPayload"
	case a.Context > 0:
		form = "LoopWithContext"
	}
	return imports.Name(ringPath) + "." + form
}

// writeHandler writes the function that a block in Go runs for a message, in two forms:
// compiled, and as plain calls of the handler.
func writeHandler(b *bytes.Buffer, p *frontend.Package, k *compiler.Kernel, a *frontend.Actor, imports *gohost.Imports) error {
	kernel, host, actor := imports.Name(kernelPath), imports.Name(hostPath), ""
	if a.Context > 0 {
		actor = imports.Name(actorPath)
	}
	typ := handlerType(p, a, imports)
	fmt.Fprintf(b, "\n%s", a.BlockSource(kernel, actor, typ))
	r, t := imports.Local("r"), imports.Local("t")
	fmt.Fprintf(b, "\nfunc %s(%s *%s.Run, %s) {\n", plainName(a.Handler), r, host, a.BlockParams(kernel, actor, typ))
	fmt.Fprintf(b, "%s.PlainBlock(%s, func(%s %s.Thread) { %s(%s, %s) })\n}\n", host, r, t, kernel, a.Block, t, strings.Join(a.BlockArgs(), ", "))
	text, err := emit(p, k.IR.Handler, imports, gohost.EmitBlock)
	b.WriteString("\n" + text)
	return err
}

// writeActor writes the function that spawns actors with a handler.
func writeActor(b *bytes.Buffer, p *frontend.Package, k *compiler.Kernel, a *frontend.Actor, imports *gohost.Imports) {
	ring, context := imports.Name(ringPath), imports.Name("context")
	typ := handlerType(p, a, imports)
	fmt.Fprintf(b, "\nvar %s = &%s.Program{Name: %q, Kernel: %s, Threads: %d", programName(a), ring, a.Handler, infoName(a.Kernel), k.IR.Options.Block[0])
	if a.Context > 0 {
		b.WriteString(", Sends: true")
	}
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
