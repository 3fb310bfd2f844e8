package opt

import (
	"errors"
	"fmt"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/ranges"
)

// pass is one step of the pipeline. It changes the kernel in place.
type pass struct {
	name string
	run  func(k *ir.Kernel) error
}

// common are the passes that both variants of a kernel share, in their order.
var common = []pass{
	{"inline", inline},
	{"writes", writes},
	{"copies", copies},
	{"unchecked", unchecked},
	{"pointers", pointers},
	{"versions", versions},
	{"uniform", uniform},
	{"collectives", collectives},
	{"fold", fold},
	{"unroll", unroll},
	{"scalarise", scalarise},
	{"late fold", fold},
	{"hoist", hoist},
	{"trips", trips},
}

// finishing returns the passes that finish a variant.
func finishing(v ranges.Variant) []pass {
	return []pass{
		{"ranges", func(k *ir.Kernel) error { ranges.Apply(k, v); return nil }},
		{"forward", func(k *ir.Kernel) error { forward(k.Func); return nil }},
		{"strength", strength},
		{"fuse", fuse},
		{"conversions", func(k *ir.Kernel) error { conversions(k.Func); return nil }},
		{"batch", batch},
		{"gather", gather},
		{"async sources", func(k *ir.Kernel) error { asyncSources(k, v); return nil }},
	}
}

// order lists pairs of passes of which the first must run before the second.
// The reason is beside each.
var order = [...][2]string{
	// Pointer parameters resolve once the call is gone.
	{"inline", "pointers"},
	// Copies that functions hold are there after that.
	{"inline", "copies"},
	// What is written is said by what is called, too.
	{"inline", "writes"},
	// Loops move what was one operation.
	{"copies", "uniform"},
	// Checks that an unchecked kernel does not want would keep code alive.
	{"inline", "unchecked"},
	{"unchecked", "fold"},
	// A store through a pointer that resolves makes that variable alone vary.
	{"pointers", "uniform"},
	// Barriers and their conditions must be the programmer's, not what is left of them.
	{"uniform", "fold"},
	// A variable whose address was taken for a call is one of the kernel's own now.
	{"pointers", "versions"},
	// A variable that is used again is uniform while it holds a uniform value.
	{"versions", "uniform"},
	// Divergence is told of the operations that the programmer wrote.
	{"uniform", "collectives"},
	// What a reduction becomes is folded and unrolled like other code.
	{"collectives", "fold"},
	// Trip counts are constants after folding.
	{"fold", "unroll"},
	// Array elements become variables where indices are constants.
	{"pointers", "scalarise"},
	{"unroll", "scalarise"},
	// Leaves of aggregates are copied often; folding removes what is not read.
	{"scalarise", "late fold"},
	// Intervals are of scalars; a variable that is assigned once is exact.
	{"late fold", "ranges"},
	// Whether a dividend is negative and how wide it is comes from ranges.
	{"ranges", "strength"},
	// An index that only its check and its use read has one reader left.
	{"ranges", "forward"},
	// Strength reduction may leave a multiplication that fuses.
	{"strength", "fuse"},
	// What is converted is more than a variable.
	{"forward", "conversions"},
	// Conditions are what they will be.
	{"late fold", "hoist"},
	// Intervals are of scalars, and bounds are variables.
	{"late fold", "trips"},
	{"hoist", "trips"},
	// The conditions of copies that always hold go there.
	{"trips", "ranges"},
	// A batch is of a loop that goes on for as long as one.
	{"trips", "batch"},
	// A loop whose bound is a variable is counted.
	{"hoist", "ranges"},
	{"hoist", "batch"},
	// Counters are int32 and need no proof any more that they stay in range.
	{"ranges", "batch"},
	// The checks of a batch move together.
	{"batch", "gather"},
	// Only the checks that are left move, and nothing that follows relies on
	// where they stand.
	{"ranges", "gather"},
	{"fuse", "gather"},
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
	if err := c.run(shared, common); err != nil {
		return nil, err
	}
	var out []Variant
	variants := []ranges.Variant{ranges.Proven, ranges.Narrow, ranges.Wide}
	if n := k.Options.Variants; n > 0 {
		variants = variants[max(0, len(variants)-n):]
	}
	for _, v := range variants {
		k, err := c.finish(shared, finishing(v))
		if err != nil {
			return nil, err
		}
		if v == ranges.Narrow && len(out) > 0 && ir.BoundsChecks(k.Func.Body) == ir.BoundsChecks(out[0].Func.Body) {
			out = nil // nothing was promised
		}
		out = append(out, Variant{v.String(), k})
		if v != ranges.Proven && len(k.Limits) == 0 {
			break
		}
	}
	if k := coarse(out[0].Kernel, c.Small); k != nil && k.Options.Variants == 0 {
		if VerifyPasses {
			if err := ir.Verify(k, ir.StageFinal); err != nil {
				return nil, fmt.Errorf("kernel %s: coarse form: %w", k.Name, err)
			}
		}
		out = append([]Variant{{"coarse", k}}, out...)
	}
	for _, v := range out {
		if err := c.ended(); err != nil {
			return nil, err
		}
		constantTables(v.Kernel)
		if len(v.Limits) > 0 {
			vectorise(v.Kernel)
			if VerifyPasses {
				if err := ir.Verify(v.Kernel, ir.StageFinal); err != nil {
					return nil, fmt.Errorf("kernel %s: %s after vectorise: %w", k.Name, v.Name, err)
				}
			}
		}
	}
	return out, nil
}

// finish returns a variant of a kernel that the common passes have run on.
func (c Config) finish(k *ir.Kernel, passes []pass) (*ir.Kernel, error) {
	k = ir.CloneKernel(k)
	if err := c.run(k, passes); err != nil {
		return nil, err
	}
	return k, nil
}

// run applies those of the passes that c keeps to a kernel.
func (c Config) run(k *ir.Kernel, passes []pass) error {
	for _, p := range c.keep(passes) {
		if err := c.ended(); err != nil {
			return err
		}
		if err := p.run(k); err != nil {
			if errors.As(err, new(Errors)) {
				return err
			}
			return fmt.Errorf("kernel %s: pass %s: %w", k.Name, p.name, err)
		}
		if !VerifyPasses {
			continue
		}
		if err := ir.Verify(k, stage(p.name)); err != nil {
			return fmt.Errorf("kernel %s: after pass %s: %w", k.Name, p.name, err)
		}
	}
	return nil
}

// stage is what a kernel promises after the named pass.
func stage(name string) ir.Stage {
	switch name {
	case "inline", "writes", "copies", "unchecked", "pointers", "versions", "uniform", "collectives", "fold", "unroll":
		return ir.StageInlined
	}
	return ir.StageFinal
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
