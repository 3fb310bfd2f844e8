package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"strconv"
)

// options are the command-line options.
type options struct {
	in, out    string
	device     string
	verify     bool
	angle      float64 // degrees, counterclockwise
	bicubic    bool
	background rgb
	sigma      float64 // pixels
	amount     float64
	strength   float64 // of the equalization, 0 to 1
}

// usageError reports a command line that cannot be parsed.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// parseOptions parses and validates the command line. If it cannot be parsed, it
// prints the error and the usage to stderr.
func parseOptions(args []string, stderr io.Writer) (options, error) {
	var opt options
	var interpolation, background string
	f := flag.NewFlagSet("photo", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&opt.in, "in", "", "JPEG or PNG `file` to read (default: a rendered scene)")
	f.StringVar(&opt.out, "out", "photo.png", "PNG `file` to write")
	f.StringVar(&opt.device, "device", "", "`device` to run on: cuda:0, cpu, sim (default: the best one available)")
	f.BoolVar(&opt.verify, "verify", false, "also run each stage on the CPU device and compare the results")
	f.Float64Var(&opt.angle, "angle", 4, "rotation in `degrees`, counterclockwise")
	f.StringVar(&interpolation, "interp", "bicubic", "`interpolation` of the rotation: bilinear or bicubic")
	f.StringVar(&background, "background", "#14161a", "`color` behind the picture, #rrggbb")
	f.Float64Var(&opt.sigma, "sigma", 2, "standard deviation of the blur in `pixels`")
	f.Float64Var(&opt.amount, "amount", 0.6, "`strength` of the unsharp mask")
	f.Float64Var(&opt.strength, "equalize", 0.35, "`strength` of the histogram equalization, 0 to 1")
	if err := f.Parse(args); err != nil {
		return opt, &usageError{err}
	}
	if f.NArg() > 0 {
		err := fmt.Errorf("unexpected argument %q; use -in and -out to name files", f.Arg(0))
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

// check returns an error for the first option that is out of range. The
// comparisons are false for NaN.
func (opt *options) check() error {
	switch {
	case math.IsNaN(opt.angle) || math.IsInf(opt.angle, 0):
		return fmt.Errorf("-angle %v: want a finite number of degrees", opt.angle)
	case !(opt.sigma > 0):
		return fmt.Errorf("-sigma %v: want a standard deviation above 0 pixels", opt.sigma)
	case !(opt.sigma <= maxSigma):
		return fmt.Errorf("-sigma %v: want at most %.2f pixels; the blur kernels have a maximum radius of %d", opt.sigma, math.Floor(maxSigma*100)/100, maxRadius)
	case !(opt.amount >= 0 && opt.amount <= maxAmount):
		return fmt.Errorf("-amount %v: want 0 to %d", opt.amount, maxAmount)
	case !(opt.strength >= 0 && opt.strength <= 1):
		return fmt.Errorf("-equalize %v: want 0 to 1", opt.strength)
	case opt.out == "":
		return fmt.Errorf("-out: want the name of the output file")
	}
	return nil
}

// maxAmount is the limit for sharpening. More would ruin any picture.
const maxAmount = 100

// parseColor returns the color #rrggbb in linear light.
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
