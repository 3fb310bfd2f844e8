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
	stage ir.Stage // what the kernel promises from then on
	does  string   // for the documentation, which a test writes
	after []after  // what must have run before
	run   func(k *ir.Kernel, t target) error
}

// after is a pass that must have run before another, and why.
type after struct{ name, because string }

// phase says what a pass runs on. Within a phase passes run in the order of the table.
type phase uint8

const (
	once      phase = iota // the kernel
	perForm                // each of the forms proven, narrow and wide
	coarsened              // a copy of the fastest form, which becomes the coarse one or is dropped
	finished               // each form that is returned
	forGo                  // the kernel, for the Go back end
	numPhases
)

// headings are what the documentation calls the phases.
var headings = [numPhases]string{
	once:      "On the kernel, for PTX",
	perForm:   "On each of the forms proven, narrow and wide",
	coarsened: "On a copy of the fastest form",
	finished:  "On each form that is left",
	forGo:     "On the kernel, for Go",
}

// target is what a pass may need to know besides the kernel.
type target struct {
	form  ranges.Variant // in perForm
	small bool           // the coarse form is for launches of any size
}

// passes is every pass there is. A pass is added here and in a file of its own.
var passes = []pass{
	{"inline", once, ir.StageInlined,
		"calls become the bodies of what they call",
		nil, onKernel(inline)},
	{"writes", once, ir.StageInlined,
		"finds the slices that the kernel may write, for compiled.Param.ReadOnly",
		[]after{{"inline", "what is called writes too"}}, onKernel(writes)},
	{"copies", once, ir.StageInlined,
		"copies of slices become loops",
		[]after{{"inline", "functions hold copies"}}, onKernel(copies)},
	{"unchecked", once, ir.StageInlined,
		"bounds checks go where the kernel asks for none",
		[]after{{"inline", "functions hold checks"}}, onKernel(unchecked)},
	{"pointers", once, ir.StageInlined,
		"pointers and slices of arrays become the places they lead to",
		[]after{{"inline", "pointer parameters resolve once the call is gone"}}, onKernel(pointers)},
	{"versions", once, ir.StageInlined,
		"a variable that is assigned anew becomes another one, in kernels with warp operations",
		[]after{{"pointers", "a variable whose address was taken for a call is one of the kernel's own now"}}, onKernel(versions)},
	{"uniform", once, ir.StageInlined,
		"a barrier that not all threads of a block reach together is an error",
		[]after{
			{"pointers", "a store through a pointer that resolves makes that variable alone vary"},
			{"copies", "loops move what was one operation"},
			{"versions", "a variable that is used again is uniform while it holds a uniform value"},
		}, onKernel(uniform)},
	{"collectives", once, ir.StageInlined,
		"reductions, scans and matches of a warp become shuffles and votes",
		[]after{{"uniform", "divergence is told of the operations that the programmer wrote"}}, onKernel(collectives)},
	{"fold", once, ir.StageInlined,
		"computes constants, drops exact identities, copies and code without effect",
		[]after{
			{"unchecked", "checks that are not wanted would keep code alive"},
			{"uniform", "barriers and their conditions must be the programmer's, not what is left of them"},
			{"collectives", "what a reduction becomes is folded and unrolled like other code"},
		}, onKernel(fold)},
	{"unroll", once, ir.StageInlined,
		"counted loops whose copies index arrays by constants become these copies",
		[]after{{"fold", "trip counts are constants"}}, onKernel(unroll)},
	{"scalarise", once, ir.StageFinal,
		"structs and arrays that constants index become scalar variables",
		[]after{
			{"pointers", "places are plain to see"},
			{"unroll", "array elements become variables where indices are constants"},
		}, onKernel(scalarise)},
	{"late fold", once, ir.StageFinal,
		"fold once more",
		[]after{{"scalarise", "leaves of aggregates are copied often, and not all are read"}}, onKernel(fold)},
	{"hoist", once, ir.StageFinal,
		"the bound of a loop is read once before it, where it is in memory that the loop does not change",
		[]after{{"late fold", "conditions are what they will be"}}, onKernel(hoist)},
	{"trips", once, ir.StageFinal,
		"loops that run a few times at most become ifs",
		[]after{
			{"late fold", "intervals are of scalars, and bounds are variables"},
			{"hoist", "a loop whose bound is a variable is counted"},
		}, onKernel(trips)},

	{"ranges", perForm, ir.StageFinal,
		"bounds-check elimination: proves checks, narrows int to 32 bits, and settles conditions (package ranges)",
		[]after{
			{"late fold", "intervals are of scalars; a variable that is assigned once is exact"},
			{"hoist", "a loop whose bound is a variable is counted"},
			{"trips", "the conditions of copies that always hold go there"},
		}, func(k *ir.Kernel, t target) error { ranges.Apply(k, t.form); return nil }},
	{"forward", perForm, ir.StageFinal,
		"a value that is read once moves to where it is read",
		[]after{{"ranges", "an index that only its check and its use read has one reader left"}},
		onBody(func(f *ir.Func) { _ = forward(f) })},
	{"strength", perForm, ir.StageFinal,
		"divisions by constants become shifts and multiplications",
		[]after{{"ranges", "it says whether a dividend is negative, and how wide it is"}}, onKernel(strength)},
	{"fuse", perForm, ir.StageFinal,
		"multiplications and additions become one operation; fastmath takes its approximations",
		[]after{{"strength", "it may leave a multiplication that fuses"}}, onKernel(fuse)},
	{"conversions", perForm, ir.StageFinal,
		"finds the floats that are known to fit the integer they are converted to",
		[]after{{"forward", "what is converted is more than a variable"}}, onBody(conversions)},
	{"batch", perForm, ir.StageFinal,
		"a loop goes on by several iterations at a time, whose loads are in flight together",
		[]after{
			{"trips", "a batch is of a loop that goes on for as long as one"},
			{"hoist", "a loop whose bound is a variable is counted"},
			{"ranges", "counters are int32, and need no proof any more that they stay in range"},
		}, onKernel(batch)},
	{"gather", perForm, ir.StageFinal,
		"the checks of a run of assignments come together before it",
		[]after{
			{"ranges", "only the checks that are left move"},
			{"batch", "the checks of a batch move together"},
			{"fuse", "nothing that follows relies on where checks stand"},
		}, onKernel(gather)},
	{"async sources", perForm, ir.StageFinal,
		"the launch promises the alignment of what asynchronous copies read",
		[]after{{"ranges", "it sets the conditions on the launch"}},
		func(k *ir.Kernel, t target) error { asyncSources(k, t.form); return nil }},

	{"coarse", coarsened, ir.StageFinal,
		"a thread of a short kernel runs several of its threads",
		[]after{{"gather", "threads take turns statement by statement, as they will be"}},
		func(k *ir.Kernel, t target) error {
			if c := coarse(k, t.small); c != nil {
				*k = *c
			}
			return nil
		}},

	{"constant tables", finished, ir.StageFinal,
		"finds the tables that constant memory serves best",
		[]after{{"coarse", "the coarse form has tables too"}}, always(constantTables)},
	{"vectorise", finished, ir.StageFinal,
		"accesses to neighbouring scalars become one of up to 16 bytes; the launch promises their alignment",
		[]after{{"coarse", "the coarse form joins accesses of several threads first"}}, always(vectorise)},

	{"needed calls", forGo, ir.StageFront,
		"inlines functions that use the thread or may go on for long, and formulas",
		nil, func(k *ir.Kernel, _ target) error { *k = *inlineForGo(k); return nil }},
	{"Go versions", forGo, ir.StageFront,
		"as versions",
		[]after{{"needed calls", "functions hold warp operations"}}, onKernel(versions)},
	{"copies at once", forGo, ir.StageFront,
		"asynchronous and bulk copies become assignments and Go's copy",
		[]after{{"needed calls", "functions hold copies"}}, always(copyAtOnce)},
	{"declared blocks", forGo, ir.StageFront,
		"dimensions of a declared block become constants, where Go takes these",
		[]after{{"needed calls", "functions read dimensions"}}, always(declared)},
	{"short loops", forGo, ir.StageFront,
		"unrolls short loops of plain assignments, which the Go compiler does not do",
		[]after{{"declared blocks", "trip counts are constants"}}, always(unrollForGo)},
	{"split arrays", forGo, ir.StageFront,
		"short arrays that constants index become variables",
		[]after{{"short loops", "indices are constants"}}, always(splitArrays)},
	{"stride", forGo, ir.StageFront,
		"the threads of a block go in step through loops that begin at a thread's own index",
		[]after{{"short loops", "what is unrolled has no counter"}}, onBody(stride)},
	{"Go hoist", forGo, ir.StageFront,
		"as hoist",
		[]after{{"short loops", "fewer loops are left"}}, onKernel(hoist)},
	{"dead stores", forGo, ir.StageFront,
		"removes what nothing reads: vet tools see the text as the kernel's own",
		[]after{{"Go hoist", "all others may leave such"}}, onBody(deadStores)},
	{"long loops", forGo, ir.StageFront,
		"marks the loops in which a thread polls whether its launch was given up",
		[]after{{"short loops", "what is unrolled is no loop"}}, onBody(func(f *ir.Func) { markLong(f, lengths{}) })},
	{"Go conversions", forGo, ir.StageFront,
		"as conversions",
		[]after{{"dead stores", "what is converted is read"}}, onBody(conversions)},
}

// onKernel makes the run of a pass that needs the kernel only, always that of one that
// finds no fault either, and onBody that of one that needs the function only.
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

// Variant is a form of a kernel, and its name: coarse, proven, narrow or wide.
type Variant struct {
	Name string
	*ir.Kernel
}

// PTX prepares a kernel for the PTX back end and leaves k as it was. All
// variants that it returns compute the same, each for launches that meet its
// Limits; they come fastest first, and the last one has no limits. The error is
// an Errors or a failure of a pass.
func PTX(k *ir.Kernel) ([]Variant, error) { return Config{}.PTX(k) }

// PTX is the function PTX with fewer passes.
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
			out = nil // nothing was promised
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

// run applies those of the passes that c keeps to a kernel.
func (c Config) run(k *ir.Kernel, passes []pass, t target) error {
	for _, p := range c.keep(passes) {
		if err := c.ended(); err != nil {
			return err
		}
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

// unchecked clears the bounds checks of a kernel that asks for none. Divisions
// and shifts keep theirs: their results, unlike an address, would be wrong silently.
func unchecked(k *ir.Kernel) error {
	if !k.Options.Unchecked {
		return nil
	}
	ir.EachBoundsCheck(k.Func.Body, func(check *bool) { *check = false })
	return nil
}
