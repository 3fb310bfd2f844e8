package opt

import (
	"errors"
	"fmt"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/ranges"
)

// pass is one step of a pipeline.
type pass struct {
	name  string
	phase phase
	stage ir.Stage // what the kernel satisfies from then on
	does  string   // for the generated documentation
	after []after  // what must have run before
	run   func(k *ir.Kernel, t target) error
}

// after names a pass that must run before another, and the reason.
type after struct{ name, because string }

// phase says what a pass runs on. Within a phase, passes run in the order of the table.
type phase uint8

const (
	once      phase = iota // the kernel
	perForm                // each of the forms proven, narrow and wide
	coarsened              // a copy of the fastest form, which becomes the coarse one or is dropped
	finished               // each form that is returned
	forGo                  // the kernel, for the Go back end
	numPhases
)

// headings are the names of the phases in the documentation.
var headings = [numPhases]string{
	once:      "On the kernel, for PTX",
	perForm:   "On each of the forms proven, narrow and wide",
	coarsened: "On a copy of the fastest form",
	finished:  "On each remaining form",
	forGo:     "On the kernel, for Go",
}

// target is what a pass may need besides the kernel.
type target struct {
	form  ranges.Variant // in perForm
	small bool           // the coarse form is for launches of any size
}

// passes lists all passes. A new pass is one row here and a file.
var passes = []pass{
	{"inline", once, ir.StageInlined,
		"calls are replaced by the bodies of the called functions",
		nil, onKernel(inline)},
	{"writes", once, ir.StageInlined,
		"finds the slices that the kernel may write, for compiled.Param.ReadOnly",
		[]after{{"inline", "called functions write too"}}, onKernel(writes)},
	{"copies", once, ir.StageInlined,
		"copies of slices become loops",
		[]after{{"inline", "functions contain copies"}}, onKernel(copies)},
	{"unchecked", once, ir.StageInlined,
		"checks of bounds and of nil pointers are removed if the kernel opts out of them",
		[]after{{"inline", "functions contain checks"}}, onKernel(unchecked)},
	{"pointers", once, ir.StageInlined,
		"pointers and slices of arrays are replaced by the places they refer to",
		[]after{{"inline", "pointer parameters resolve once the call is gone"}}, onKernel(pointers)},
	{"nil checks", once, ir.StageInlined,
		"checks of pointers that are assigned on every path are removed",
		[]after{{"pointers", "only pointers that are addresses at run time are left"}}, onKernel(nilChecks)},
	{"versions", once, ir.StageInlined,
		"a reassigned variable is renamed, in kernels with warp operations",
		[]after{{"pointers", "a variable whose address was passed to a call is now a variable of the kernel"}}, onKernel(versions)},
	{"uniform", once, ir.StageInlined,
		"a barrier that not all threads of a block reach together is an error",
		[]after{
			{"pointers", "a store through a resolved pointer makes only that variable vary"},
			{"copies", "loops replace what was one operation"},
			{"versions", "a variable that is used again is uniform while it holds a uniform value"},
		}, onKernel(uniform)},
	{"collectives", once, ir.StageInlined,
		"warp reductions, scans and matches become shuffles and votes",
		[]after{{"uniform", "divergence is reported for the operations that the programmer wrote"}}, onKernel(collectives)},
	{"fold", once, ir.StageInlined,
		"folds constants, exact identities and copies, and removes dead code",
		[]after{
			{"unchecked", "unwanted checks would keep code alive"},
			{"uniform", "barriers and their conditions must be the programmer's, not what is left of them"},
			{"collectives", "expanded reductions are folded and unrolled like other code"},
		}, onKernel(fold)},
	{"early hoist", once, ir.StageInlined,
		"a division and a square root that a loop does not change are computed once before it",
		[]after{{"fold", "starts and bounds of loops are constants"}}, onKernel(hoistLong)},
	{"unroll", once, ir.StageInlined,
		"counted loops are unrolled if array indices, or conditions of long bodies, then become constants",
		[]after{
			{"fold", "trip counts are constants"},
			{"early hoist", "copies of an iteration are no loop"},
		}, onKernel(unroll)},
	{"late pointers", once, ir.StageInlined,
		"pointers once more",
		[]after{{"unroll", "the bounds of slices of arrays are constants"}}, onKernel(pointers)},
	{"scalarise", once, ir.StageFinal,
		"structs, and arrays with constant indices, become scalar variables",
		[]after{
			{"pointers", "places are explicit"},
			{"unroll", "array elements become variables where indices are constants"},
		}, onKernel(scalarise)},
	{"late fold", once, ir.StageFinal,
		"fold once more",
		[]after{{"scalarise", "leaves of aggregates are copied often, and not all are read"}}, onKernel(fold)},
	{"late nil checks", once, ir.StageFinal,
		"nil checks once more",
		[]after{
			{"unroll", "iterations that certainly run assign their pointers"},
			{"late fold", "pointers in structs and arrays are variables"},
		}, onKernel(nilChecks)},
	{"results", once, ir.StageFinal,
		"a product of matrices writes its results to the variables that they are copied to",
		[]after{{"late fold", "only copies to variables that are read are left"}}, onKernel(writeResults)},
	{"hoist", once, ir.StageFinal,
		"a loop bound in memory, a division and a square root that a loop does not change are computed once before it",
		[]after{{"late fold", "conditions are final"}}, onKernel(hoist)},
	{"trips", once, ir.StageFinal,
		"loops that run at most a few times become ifs",
		[]after{
			{"late fold", "intervals are of scalars, and bounds are variables"},
			{"hoist", "a loop whose bound is a variable is counted"},
		}, onKernel(trips)},

	{"ranges", perForm, ir.StageFinal,
		"bounds-check elimination: proves checks, narrows int to 32 bits, and settles conditions (package ranges)",
		[]after{
			{"late fold", "intervals are of scalars; a variable that is assigned once is exact"},
			{"hoist", "a loop whose bound is a variable is counted"},
			{"trips", "conditions of copies that always hold are removed there"},
		}, func(k *ir.Kernel, t target) error { ranges.Apply(k, t.form); return nil }},
	{"forward", perForm, ir.StageFinal,
		"a value that is read once moves to its use",
		[]after{{"ranges", "an index read only by its check and its use has one reader left"}},
		onBody(func(f *ir.Func) { _ = forward(f) })},
	{"strength", perForm, ir.StageFinal,
		"divisions by constants become shifts and multiplications",
		[]after{{"ranges", "it says whether a dividend is negative, and how wide it is"}}, onKernel(strength)},
	{"fuse", perForm, ir.StageFinal,
		"multiplications and additions are fused; fastmath kernels use approximations",
		[]after{{"strength", "it may leave a multiplication that fuses"}}, onKernel(fuse)},
	{"conversions", perForm, ir.StageFinal,
		"finds floats that are known to fit the integer type they are converted to",
		[]after{{"forward", "the operand is more than a variable"}}, onBody(conversions)},
	{"choose", perForm, ir.StageFinal,
		"an if that only decides between two values becomes a selection",
		[]after{
			{"ranges", "conditions say more about variables than selections"},
			{"forward", "what a branch assigns is one expression"},
			{"strength", "divisions by constants are cheap operations"},
			{"fuse", "operations count as what they become"},
		}, onBody(choose)},
	{"batch", perForm, ir.StageFinal,
		"a loop runs several iterations at a time, with their loads in flight together",
		[]after{
			{"trips", "only loops that run for at least one batch are left"},
			{"hoist", "a loop whose bound is a variable is counted"},
			{"ranges", "counters are int32 and proven to stay in range"},
		}, onKernel(batch)},
	{"gather", perForm, ir.StageFinal,
		"the checks of a run of assignments move in front of it",
		[]after{
			{"ranges", "only the remaining checks move"},
			{"batch", "the checks of a batch move together"},
			{"fuse", "nothing that follows relies on where checks stand"},
		}, onKernel(gather)},
	{"stores", perForm, ir.StageFinal,
		"a value that the thread has written is not read again; a write that the next one replaces is removed",
		[]after{{"gather", "most checks stand in front of what they check"}}, onKernel(stores)},
	{"async sources", perForm, ir.StageFinal,
		"the alignment of the sources of asynchronous copies becomes a launch condition",
		[]after{{"ranges", "it sets the conditions on the launch"}},
		func(k *ir.Kernel, t target) error { asyncSources(k, t.form); return nil }},

	{"coarse", coarsened, ir.StageFinal,
		"each thread of a short kernel runs several of the original threads",
		[]after{{"gather", "threads are interleaved by final statements"}},
		func(k *ir.Kernel, t target) error {
			if c := coarse(k, t.small); c != nil {
				*k = *c
			}
			return nil
		}},

	{"constant tables", finished, ir.StageFinal,
		"finds the tables to put into constant memory",
		[]after{{"coarse", "the coarse form has tables too"}}, always(constantTables)},
	{"vectorise", finished, ir.StageFinal,
		"neighbouring scalar accesses become one access of up to 16 bytes; its alignment becomes a launch condition",
		[]after{{"coarse", "the coarse form joins accesses of several threads first"}}, always(vectorise)},
	{"fill", finished, ir.StageFinal,
		"writes to shared memory move behind the reads of global memory that follow them, which are then in flight together",
		[]after{{"vectorise", "vectors move whole"}}, always(fill)},

	{"needed calls", forGo, ir.StageFront,
		"inlines functions that use the thread or may run long, formulas, and functions of short arrays",
		nil, func(k *ir.Kernel, _ target) error { *k = *inlineForGo(k); return nil }},
	{"Go versions", forGo, ir.StageFront,
		"as versions",
		[]after{{"needed calls", "functions contain warp operations"}}, onKernel(versions)},
	{"copies at once", forGo, ir.StageFront,
		"asynchronous and bulk copies become assignments and Go's copy",
		[]after{{"needed calls", "functions contain copies"}}, always(copyAtOnce)},
	{"declared blocks", forGo, ir.StageFront,
		"dimensions of a declared block become constants where Go accepts them",
		[]after{{"needed calls", "functions read dimensions"}}, always(declared)},
	{"short loops", forGo, ir.StageFront,
		"unrolls short loops of plain assignments, which the Go compiler does not do, and hinted loops with barriers or calls",
		[]after{{"declared blocks", "trip counts are constants"}}, always(unrollForGo)},
	{"split arrays", forGo, ir.StageFront,
		"short arrays of numbers or vectors with constant indices become variables",
		[]after{{"short loops", "indices are constants"}}, always(splitArrays)},
	{"sets", forGo, ir.StageFront,
		"comparisons of a variable with several constants become the test of a bit",
		[]after{{"short loops", "counters are constants"}}, always(sets)},
	{"stride", forGo, ir.StageFront,
		"the threads of a block run loops in lockstep that start at the thread's own index",
		[]after{{"short loops", "unrolled loops have no counter"}}, onBody(stride)},
	{"Go hoist", forGo, ir.StageFront,
		"as hoist",
		[]after{{"short loops", "fewer loops are left"}}, onKernel(hoist)},
	{"lanes", forGo, ir.StageFront,
		"the lanes of a warp run loops in lockstep that divide a range among them",
		[]after{{"Go hoist", "the bound of a loop is a variable"}}, always(laneLoops)},
	{"Go copies", forGo, ir.StageFront,
		"removes variables that only pass a value on, which makes the text shorter",
		[]after{{"lanes", "all other passes may copy variables"}}, onBody(removeCopies)},
	{"dead stores", forGo, ir.StageFront,
		"removes values that are never read: vet tools see the text as the kernel's own",
		[]after{{"Go copies", "all other passes may leave dead stores"}}, onBody(deadStores)},
	{"long loops", forGo, ir.StageFront,
		"marks the loops in which a thread polls for cancellation",
		[]after{{"short loops", "unrolled loops are gone"}}, onBody(func(f *ir.Func) { markLong(f, lengths{}) })},
	{"Go conversions", forGo, ir.StageFront,
		"as conversions",
		[]after{{"dead stores", "converted values are read"}}, onBody(conversions)},
}

// onKernel adapts a pass that needs only the kernel, always one that also reports no
// errors, and onBody one that needs only the function.
func onKernel(f func(*ir.Kernel) error) func(*ir.Kernel, target) error {
	return func(k *ir.Kernel, _ target) error { return f(k) }
}

func always(f func(*ir.Kernel)) func(*ir.Kernel, target) error {
	return func(k *ir.Kernel, _ target) error { f(k); return nil }
}

func onBody(f func(*ir.Func)) func(*ir.Kernel, target) error {
	return func(k *ir.Kernel, _ target) error { f(k.Func); return nil }
}

// of returns the passes of a phase.
func of(p phase) []pass {
	var out []pass
	for _, q := range passes {
		if q.phase == p {
			out = append(out, q)
		}
	}
	return out
}

// VerifyPasses makes PTX verify the kernel after each pass. Tests set it.
var VerifyPasses bool

// Variant is a form of a kernel and its name: coarse, proven, narrow or wide.
type Variant struct {
	Name string
	*ir.Kernel
}

// PTX prepares a kernel for the PTX back end without changing k. All returned variants
// compute the same result, each for launches that meet its Limits. They are ordered
// fastest first, and the last one has no limits. The error is an Errors or the failure
// of a pass.
func PTX(k *ir.Kernel) ([]Variant, error) { return Config{}.PTX(k) }

// PTX is like the function PTX, with fewer passes.
func (c Config) PTX(k *ir.Kernel) ([]Variant, error) {
	shared := ir.CloneKernel(k)
	if err := c.run(shared, of(once), target{}); err != nil {
		return nil, err
	}
	var out []Variant
	forms := []ranges.Variant{ranges.Proven, ranges.Narrow, ranges.Wide}
	if n := k.Options.Variants; n > 0 {
		forms = forms[max(0, len(forms)-n):]
	}
	for _, form := range forms {
		k := ir.CloneKernel(shared)
		if err := c.run(k, of(perForm), target{form: form}); err != nil {
			return nil, err
		}
		if form == ranges.Narrow && len(out) > 0 && ir.BoundsChecks(k.Func.Body) == ir.BoundsChecks(out[0].Func.Body) {
			out = nil // the conditions removed no checks
		}
		out = append(out, Variant{form.String(), k})
		if form != ranges.Proven && len(k.Limits) == 0 {
			break
		}
	}
	if k.Options.Variants == 0 {
		coarse := *out[0].Kernel
		if err := c.run(&coarse, of(coarsened), target{small: c.Small}); err != nil {
			return nil, err
		}
		if coarse.Coarse != nil {
			out = append([]Variant{{"coarse", &coarse}}, out...)
		}
	}
	for _, v := range out {
		if err := c.run(v.Kernel, of(finished), target{}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// run applies the passes that c keeps to a kernel.
func (c Config) run(k *ir.Kernel, passes []pass, t target) error {
	for _, p := range c.keep(passes) {
		k.Func.Poll()
		if err := p.run(k, t); err != nil {
			if errors.As(err, new(Errors)) {
				return err
			}
			return fmt.Errorf("kernel %s: pass %s: %w", k.Name, p.name, err)
		}
		if !VerifyPasses || p.phase == forGo {
			continue
		}
		if err := ir.Verify(k, p.stage); err != nil {
			return fmt.Errorf("kernel %s: after pass %s: %w", k.Name, p.name, err)
		}
	}
	return nil
}

// unchecked clears the checks of bounds and of nil pointers of a kernel that opts out of them. Divisions and
// shifts keep theirs: unlike an address, their results would be silently wrong.
func unchecked(k *ir.Kernel) error {
	if !k.Options.Unchecked {
		return nil
	}
	ir.EachBoundsCheck(k.Func.Body, func(check *bool) { *check = false })
	ir.EachNilCheck(k.Func.Body, func(p *ir.DerefPlace) { p.Check = false })
	return nil
}
