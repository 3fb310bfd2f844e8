package frontend

import (
	"fmt"
	"go/token"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// options are the options of a //quern:kernel directive.
type options struct {
	ir.Options
	instances   []word // type arguments of each instance of a generic kernel
	specialised []word // parameters, each with the values that get special forms
	also        bool   // also generate a second kernel without checks
}

// option is a word that may follow //quern:kernel.
type option struct {
	name   string
	value  string // form of its value, "" for an option without a value
	repeat bool   // may be repeated
	kernel bool   // not for actors
	set    func(o *options, c constants, value word) error
}

// kernelOptionTable lists all options, in the order in which errors list them.
var kernelOptionTable = []option{
	{name: "block", value: "X[xY[xZ]]", set: func(o *options, c constants, value word) (err error) {
		o.Block, err = c.block(value.text)
		return err
	}},
	{name: "minblocks", value: "N", set: func(o *options, c constants, value word) (err error) {
		o.MinBlocks, err = c.number("minblocks", value.text, 1, maxResidentBlocks)
		return err
	}},
	{name: "maxregs", value: "N", set: func(o *options, c constants, value word) (err error) {
		o.MaxRegs, err = c.number("maxregs", value.text, minRegisters, maxRegisters)
		return err
	}},
	{name: "cluster", value: "X[xY[xZ]]", kernel: true, set: func(o *options, c constants, value word) (err error) {
		o.Cluster, err = c.cluster(value.text)
		return err
	}},
	{name: "unchecked", set: func(o *options, _ constants, _ word) error { o.Unchecked = true; return nil }},
	{name: "also", value: "unchecked", kernel: true, set: func(o *options, _ constants, value word) error {
		if o.also = value.text == "unchecked"; !o.also {
			return fmt.Errorf("also=%s: the only additional form is also=unchecked", value.text)
		}
		return nil
	}},
	{name: "fastmath", set: func(o *options, _ constants, _ word) error { o.FastMath = true; return nil }},
	{name: "only", value: "gpu|cpu", kernel: true, set: func(o *options, _ constants, value word) error {
		o.Only = value.text
		if value.text == "cpu" {
			o.Variants = 1
		}
		if value.text != "gpu" && value.text != "cpu" {
			return fmt.Errorf("only=%s: write only=gpu or only=cpu", value.text)
		}
		return nil
	}},
	{name: "instantiate", value: "T1,T2", kernel: true, set: func(o *options, _ constants, value word) error {
		o.instances = splitWord(value, ',')
		return nil
	}},
	{name: "specialise", value: "parameter:value1,value2", repeat: true, kernel: true, set: func(o *options, _ constants, value word) error {
		o.specialised = append(o.specialised, value)
		return nil
	}},
}

// wrongOption describes an invalid word of a directive.
type wrongOption struct {
	pos token.Pos
	msg string
}

// kernelOptions parses the words after //quern:kernel or //quern:actor. Values that are
// not numbers count as some valid number.
func kernelOptions(args []word, verb string) (o options, wrong []wrongOption) {
	return constants{}.options(args, verb)
}

// options parses the words after //quern:kernel or //quern:actor.
func (c constants) options(args []word, verb string) (o options, wrong []wrongOption) {
	given := map[string]word{}
	for _, arg := range args {
		name, value, hasValue := strings.Cut(arg.text, "=")
		known := findOption(name)
		_, again := given[name]
		var err error
		switch {
		case known == nil:
			err = fmt.Errorf("unknown %s option %q; the options are %s", verb, arg.text, optionForms(verb))
		case hasValue && known.value == "":
			err = fmt.Errorf("option %s takes no value; write %s", name, name)
		case value == "" && known.value != "":
			err = fmt.Errorf("option %s is written %s", name, known.form())
		case again && !known.repeat:
			err = fmt.Errorf("option %s is given twice; keep one", name)
		default:
			err = known.set(&o, c, word{value, arg.pos + token.Pos(len(name)+1)})
		}
		if err != nil {
			wrong = append(wrong, wrongOption{arg.pos, err.Error()})
		}
		given[name] = arg
	}
	if o.also && o.Unchecked {
		wrong = append(wrong, wrongOption{given["also"].pos, "the kernel is already unchecked; remove unchecked to get a checked and an unchecked form, or remove also=unchecked"})
	}
	if o.MinBlocks > 0 && len(wrong) == 0 {
		at := given["minblocks"].pos
		switch threads := o.Block[0] * o.Block[1] * o.Block[2]; {
		case threads == 0:
			wrong = append(wrong, wrongOption{at, "minblocks counts blocks of a known size; add block=, as in block=256 minblocks=2"})
		case threads*o.MinBlocks > maxResidentThreads:
			wrong = append(wrong, wrongOption{at, fmt.Sprintf("minblocks=%d of %d threads each are %d threads; a multiprocessor holds at most %d; ask for fewer", o.MinBlocks, threads, threads*o.MinBlocks, maxResidentThreads)})
		}
	}
	return o, wrong
}

func findOption(name string) *option {
	for i := range kernelOptionTable {
		if kernelOptionTable[i].name == name {
			return &kernelOptionTable[i]
		}
	}
	return nil
}

// optionForms lists the forms of all options of a directive.
func optionForms(verb string) string {
	var forms []string
	for _, known := range kernelOptionTable {
		if verb != actorVerb || !known.kernel {
			forms = append(forms, known.form())
		}
	}
	last := len(forms) - 1
	return strings.Join(forms[:last], ", ") + " and " + forms[last]
}

// form returns the form of the option.
func (k option) form() string {
	if k.value == "" {
		return k.name
	}
	return k.name + "=" + k.value
}

// words returns the options of an actor in the form of its kernel's directive.
func (o options) words() string {
	text := fmt.Sprintf("block=%dx%dx%d", o.Block[0], o.Block[1], o.Block[2])
	for _, n := range []struct {
		name  string
		value int
	}{{"minblocks", o.MinBlocks}, {"maxregs", o.MaxRegs}} {
		if n.value > 0 {
			text += fmt.Sprintf(" %s=%d", n.name, n.value)
		}
	}
	if o.Unchecked {
		text += " unchecked"
	}
	if o.FastMath {
		text += " fastmath"
	}
	return text
}

// splitWord splits a word at separators that are not inside brackets.
func splitWord(w word, separator byte) []word {
	var list []word
	depth, start := 0, 0
	for i := range len(w.text) {
		switch w.text[i] {
		case '[', '(':
			depth++
		case ']', ')':
			depth--
		case separator:
			if depth == 0 {
				list = append(list, word{w.text[start:i], w.pos + token.Pos(start)})
				start = i + 1
			}
		}
	}
	return append(list, word{w.text[start:], w.pos + token.Pos(start)})
}

// Limits of every device (CUDA C Programming Guide, compute capabilities).
const (
	maxBlock           = 1024 // threads per block
	maxResidentThreads = 2048 // threads per multiprocessor
	maxResidentBlocks  = 32   // blocks per multiprocessor
	minRegisters       = 24   // smallest limit that the driver's compiler accepts
	maxRegisters       = 255  // per thread
	maxCluster         = 8    // blocks per cluster
)

func (c constants) block(text string) ([3]int, error) {
	block, shown, err := c.extent("block", text)
	if err != nil {
		return block, err
	}
	for _, n := range block {
		if n > maxBlock {
			return block, fmt.Errorf("%s: a block has at most %d threads", strings.TrimSuffix(shown, ","), maxBlock)
		}
	}
	if count := block[0] * block[1] * block[2]; count > maxBlock {
		return block, fmt.Errorf("%s is %d threads; a block has at most %d", shown, count, maxBlock)
	}
	if block[2] > 64 {
		return block, fmt.Errorf("%s: the third dimension is at most 64", strings.TrimSuffix(shown, ","))
	}
	return block, nil
}
