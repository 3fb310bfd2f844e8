// Package batch runs generated programs natively: as plain Go and as the Go that the
// compiler generates for the CPU. Package fuzz links it with many programs into a binary,
// sends it jobs and receives results.
package batch

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"unsafe"

	"quern.dev/kernel"
	"quern.dev/kernel/host"
)

// Program is a kernel, as plain Go and compiled for the CPU.
type Program struct {
	ID    int
	Plain func(t kernel.Thread, a Args)
	Host  host.Func
}

// Args holds the contents of a kernel's arguments.
type Args []Arg

// Arg is the memory of a value or of the elements of a slice.
type Arg struct {
	Words []uint64 // words, for alignment
	Size  int      // total bytes
	Elem  int      // bytes per element; 0 for a value
}

// NewArg returns an Arg with a copy of b.
func NewArg(b []byte, elem int) Arg {
	a := Arg{Words: make([]uint64, len(b)/8+1), Size: len(b), Elem: elem}
	copy(a.Bytes(), b)
	return a
}

// Bytes returns the memory.
func (a Arg) Bytes() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(a.Words))), a.Size)
}

// Value returns argument i as a T.
func Value[T any](a Args, i int) T { return *(*T)(unsafe.Pointer(unsafe.SliceData(a[i].Words))) }

// Slice returns argument i as a slice of T.
func Slice[T any](a Args, i int) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(a[i].Words))), a[i].Size/a[i].Elem)
}

// Job is a request to run a program.
type Job struct {
	ID          int
	Grid, Block kernel.Dim3
	Args        Args
}

// Result holds the outcomes of a program's runs.
type Result struct {
	ID          int
	Plain, Host Outcome
}

// Outcome is the result of one run.
type Outcome struct {
	Args          Args
	Failed        bool
	Line          int
	Block, Thread kernel.Dim3
	Text          string
}

// Main reads jobs from in until it ends, and writes results to out.
func Main(programs []Program, in io.Reader, out io.Writer) error {
	byID := map[int]Program{}
	for _, p := range programs {
		byID[p.ID] = p
	}
	jobs, results := gob.NewDecoder(in), gob.NewEncoder(out)
	for {
		var j Job
		switch err := jobs.Decode(&j); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		p := byID[j.ID]
		if err := results.Encode(Result{j.ID, plain(p, j), onHost(p, j)}); err != nil {
			return err
		}
	}
}

func clone(a Args) Args {
	out := make(Args, len(a))
	for i := range a {
		out[i] = NewArg(a[i].Bytes(), a[i].Elem)
	}
	return out
}

func plain(p Program, j Job) (o Outcome) {
	o.Args = clone(j.Args)
	defer func() {
		switch v := recover().(type) {
		case nil:
		case *kernel.ThreadError:
			o.Failed, o.Line, o.Block, o.Thread, o.Text = true, v.Line, v.Block, v.Thread, fmt.Sprint(v.Value)
		default:
			panic(v)
		}
	}()
	kernel.Each(j.Grid, j.Block, func(t kernel.Thread) { p.Plain(t, o.Args) })
	return o
}

func onHost(p Program, j Job) (o Outcome) {
	o.Args = clone(j.Args)
	var args host.Args
	for i, a := range o.Args {
		at := unsafe.Pointer(unsafe.SliceData(a.Words))
		if a.Elem > 0 {
			args.SetSlice(i, at, a.Size/a.Elem)
		} else {
			args.SetValue(i, at, uintptr(a.Size))
		}
	}
	f := host.Execute(p.Host, &host.Launch{Grid: j.Grid, Block: j.Block, Args: &args})
	if f != nil {
		o.Failed, o.Line, o.Block, o.Thread, o.Text = true, f.Line, f.Block, f.Thread, f.Reason
	}
	return o
}
