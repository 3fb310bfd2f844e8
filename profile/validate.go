package profile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"quern.dev/gpu"
)

// Validation compares the results of a kernel on two devices.
type Validation struct {
	Kernel string          `json:"kernel"`
	Device string          `json:"device"`
	Other  string          `json:"other"` // whose results are the reference
	Rows   []ValidationRow `json:"rows"`
}

// ValidationRow compares the results for one size and one kind of input.
type ValidationRow struct {
	Size  int   `json:"size"`
	Input Input `json:"input"`

	Numbers    int `json:"numbers"`    // that the kernel may have written
	Different  int `json:"different"`  // of them; NaNs are equal to NaNs
	Mismatches int `json:"mismatches"` // only one of two is a NaN, or infinite
	// Largest differences. ULP are units in the last place, of floats.
	Absolute float64 `json:"absolute"`
	Relative float64 `json:"relative"`
	ULP      uint64  `json:"ulp"`
	// First says where the first difference is: "y[17]".
	First string `json:"first,omitempty"`

	// Times of the kernel in seconds, without copies.
	Seconds      float64 `json:"seconds"`
	OtherSeconds float64 `json:"otherSeconds"`

	// Err is set if the kernel failed on a device, as indices that are made up may make it.
	// The row then has no results.
	Err string `json:"error,omitempty"`
}

// Speedup returns how many times as fast as the other device the device is.
func (r *ValidationRow) Speedup() float64 {
	if r.Seconds == 0 {
		return 0
	}
	return r.OtherSeconds / r.Seconds
}

// Validate runs a kernel on two devices, with random, zero and edge inputs for each size, and
// measures how far the results are apart and how long the kernel takes. Differences are not an
// error: which ones are acceptable depends on the kernel. A kernel whose atomics make the order
// of additions random differs from run to run on one device too.
//
//	v, err := profile.Validate(ctx, profile.Call{Kernel: k}, device, cpu, []int{1000, 1 << 20})
//	err = v.WriteMarkdown(os.Stdout)
func Validate(ctx context.Context, c Call, device, other *gpu.Device, sizes []int) (*Validation, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	switch {
	case c.Kernel == nil:
		return nil, errors.New("profile: validate: Call.Kernel is nil")
	case device == nil || other == nil:
		return nil, fmt.Errorf("profile: validate %s: a device is nil", c.Kernel.Name())
	case len(sizes) == 0:
		return nil, fmt.Errorf("profile: validate %s: no sizes", c.Kernel.Name())
	}
	v := &Validation{Kernel: c.Kernel.Name(), Device: device.ID() + " (" + device.Name() + ")", Other: other.ID() + " (" + other.Name() + ")"}
	for _, n := range sizes {
		for _, in := range []Input{Random, Zeros, Edges} {
			row, err := validate(ctx, c, device, other, n, in)
			if err != nil {
				return nil, fmt.Errorf("profile: validate %s: size %d, %s: %w", v.Kernel, n, in, err)
			}
			v.Rows = append(v.Rows, row)
		}
	}
	return v, nil
}

// validationSeed is the seed of random inputs.
const validationSeed = 17

func validate(ctx context.Context, c Call, device, other *gpu.Device, n int, in Input) (row ValidationRow, err error) {
	row = ValidationRow{Size: n, Input: in}
	var bound [2]*boundCall
	var failed [2]error
	for i, d := range []*gpu.Device{device, other} {
		s := d.DefaultStream()
		b, err := c.bind(s, n, in, validationSeed)
		if err != nil {
			return row, err
		}
		defer func() { err = errors.Join(err, b.close()) }()
		bound[i] = b
		took, err := timed(ctx, s, b)
		var fault *gpu.KernelError
		if errors.As(err, &fault) {
			failed[i] = fault
		} else if err != nil {
			return row, fmt.Errorf("%s: %w", d.ID(), err)
		}
		if i == 0 {
			row.Seconds = took
		} else {
			row.OtherSeconds = took
		}
	}
	if failed[0] != nil || failed[1] != nil {
		row.Err = describeFailures(device, other, failed)
		return row, nil
	}
	for i, a := range bound[0].arrays {
		if !a.isOutput() {
			continue
		}
		d, err := a.measure(bound[1].arrays[i].output())
		if err != nil {
			return row, err
		}
		if row.First == "" && d.Index >= 0 {
			row.First = fmt.Sprintf("%s[%d]", a.name(), d.Index)
		}
		row.Numbers += d.Numbers
		row.Different += d.Different
		row.Mismatches += d.Mismatches
		row.Absolute, row.Relative, row.ULP = max(row.Absolute, d.Absolute), max(row.Relative, d.Relative), max(row.ULP, d.ULP)
	}
	return row, nil
}

// describeFailures says on which device the kernel failed, and why.
func describeFailures(device, other *gpu.Device, failed [2]error) string {
	switch {
	case failed[0] != nil && failed[1] != nil:
		return "fails on both: " + failed[0].Error()
	case failed[0] != nil:
		return "fails only on " + device.ID() + ": " + failed[0].Error()
	}
	return "fails only on " + other.ID() + ": " + failed[1].Error()
}

// timed runs the kernel once for its results, and then for its time in seconds: the shortest
// of a few runs.
func timed(ctx context.Context, s *gpu.Stream, b *boundCall) (float64, error) {
	run := func() (float64, error) {
		begin := time.Now()
		if err := b.launch(s); err != nil {
			return 0, err
		}
		err := s.Synchronize(ctx)
		return time.Since(begin).Seconds(), err
	}
	if _, err := run(); err != nil {
		return 0, err
	}
	if err := b.receive(ctx, s); err != nil {
		return 0, err
	}
	if s.Device().Backend() == gpu.Sim {
		return 0, nil // times of the simulator mean nothing
	}
	best := 0.0
	for i := range 3 {
		took, err := run()
		if err != nil {
			return 0, err
		}
		if i == 0 || took < best {
			best = took
		}
	}
	return best, nil
}

// WriteMarkdown writes a table.
func (v *Validation) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: %s compared with %s\n\n", v.Kernel, v.Device, v.Other)
	rows := [][]string{{"size", "input", "numbers", "different", "first", "absolute", "relative", "ULP", "NaN or infinite in one", "time", "time of the other", "speed-up"}}
	var failures []string
	for i := range v.Rows {
		r := &v.Rows[i]
		row := []string{strconv.Itoa(r.Size), string(r.Input)}
		if r.Err != "" {
			failures = append(failures, fmt.Sprintf("size %d, %s: %s", r.Size, r.Input, r.Err))
			row = append(row, "", "failed", "", "", "", "", "", "", "", "")
		} else {
			speedup := ""
			if s := r.Speedup(); s > 0 && r.OtherSeconds > 0 {
				speedup = digits(s)
			}
			row = append(row, strconv.Itoa(r.Numbers), strconv.Itoa(r.Different), r.First, number(r.Absolute), number(r.Relative), strconv.FormatUint(r.ULP, 10), strconv.Itoa(r.Mismatches),
				seconds(r.Seconds), seconds(r.OtherSeconds), speedup)
		}
		rows = append(rows, row)
	}
	b.WriteString(markdown(rows))
	for _, f := range failures {
		b.WriteString("\n" + f + "\n")
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("profile: write validation: %w", err)
	}
	return nil
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', 3, 64) }

// WriteJSON writes the validation as JSON.
func (v *Validation) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "\t")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("profile: write validation: %w", err)
	}
	return nil
}
