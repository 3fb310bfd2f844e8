package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"strconv"
)

// options are what the command line says.
type options struct {
	in, out    string
	device     string
	verify     bool
	angle      float64 // degrees, counter-clockwise
	bicubic    bool
	background rgb
	sigma      float64 // pixels
	amount     float64
	strength   float64 // of the equalisation, 0 to 1
}

// usageError is a command line that cannot be parsed.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// parseOptions parses and checks the command line. It prints the usage, and
// what is wrong with a command line that it cannot parse, to stderr.
func parseOptions(args []string, stderr io.Writer) (options, error) {
	var opt options
	var interpolation, background string
	f := flag.NewFlagSet("photo", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&opt.in, "in", "", "JPEG or PNG `file` to read (default: a scene that the program renders)")
	f.StringVar(&opt.out, "out", "photo.png", "PNG `file` to write")
	f.StringVar(&opt.device, "device", "", "`device` to run on: cuda:0, cpu, sim (default: the best there is)")
	f.BoolVar(&opt.verify, "verify", false, "run each stage on the CPU device too and compare")
	f.Float64Var(&opt.angle, "angle", 4, "rotation in `degrees`, counter-clockwise")
	f.StringVar(&interpolation, "interp", "bicubic", "`interpolation` of the rotation: bilinear or bicubic")
	f.StringVar(&background, "background", "#14161a", "`colour` behind the picture, #rrggbb")
	f.Float64Var(&opt.sigma, "sigma", 2, "standard deviation of the blur in `pixels`")
	f.Float64Var(&opt.amount, "amount", 0.6, "`strength` of the unsharp mask")
	f.Float64Var(&opt.strength, "equalize", 0.35, "`strength` of the histogram equalisation, 0 to 1")
	if err := f.Parse(args); err != nil {
		return opt, &usageError{err}
	}
	if f.NArg() > 0 {
		err := fmt.Errorf("unexpected argument %q; files are given with -in and -out", f.Arg(0))
		fmt.Fprintf(stderr, "photo: %v\n", err)
		return opt, &usageError{err}
	}

	switch interpolation {
	case "bilinear":
	case "bicubic":
		opt.bicubic = true
	default:
		return opt, fmt.Errorf("-interp %q: want bilinear or bicubic", interpolation)
	}
	var err error
	if opt.background, err = parseColor(background); err != nil {
		return opt, fmt.Errorf("-background %q: %w", background, err)
	}
	return opt, opt.check()
}

// check reports the first option whose value is out of range. The comparisons
// are false for NaN.
func (opt *options) check() error {
	switch {
	case math.IsNaN(opt.angle) || math.IsInf(opt.angle, 0):
		return fmt.Errorf("-angle %v: want a finite number of degrees", opt.angle)
	case !(opt.sigma > 0):
		return fmt.Errorf("-sigma %v: want a standard deviation above 0 pixels", opt.sigma)
	case !(opt.sigma <= maxSigma):
		return fmt.Errorf("-sigma %v: at most %.2f pixels, since the blur kernels hold a radius of %d", opt.sigma, math.Floor(maxSigma*100)/100, maxRadius)
	case !(opt.amount >= 0 && opt.amount <= maxAmount):
		return fmt.Errorf("-amount %v: want 0 to %d", opt.amount, maxAmount)
	case !(opt.strength >= 0 && opt.strength <= 1):
		return fmt.Errorf("-equalize %v: want 0 to 1", opt.strength)
	case opt.out == "":
		return fmt.Errorf("-out: want the name of a file to write")
	}
	return nil
}

// maxAmount is more sharpening than any picture survives.
const maxAmount = 100

// parseColor returns the colour #rrggbb in linear light.
func parseColor(s string) (rgb, error) {
	if len(s) != 7 || s[0] != '#' {
		return rgb{}, fmt.Errorf("want #rrggbb")
	}
	v, err := strconv.ParseUint(s[1:], 16, 32)
	if err != nil {
		return rgb{}, fmt.Errorf("want six hexadecimal digits after #")
	}
	table := srgbTable()
	return rgb{table[v>>16], table[v>>8&0xff], table[v&0xff]}, nil
}
