package gpu

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"quern.dev/internal/driver/cuda/fakecuda"
)

// saxpyReading is saxpy with the compiler's knowledge that it only reads x.
func saxpyReading() *Kernel {
	info := saxpyInfo
	info.Params = slices.Clone(info.Params)
	info.Params[2].ReadOnly = true
	return NewKernel(info)
}

// A write through a read view would be lost, because the host would continue with its
// own values.
func TestViewsForReadingAreNotWritten(t *testing.T) {
	const n = 16
	unknown, k := NewKernel(saxpyInfo), saxpyReading()
	everyDevice(t, func(t *testing.T, d *Device) {
		s, ctx := d.DefaultStream(), t.Context()
		foreign := must[*Device](t)(Open(Config{Device: "cpu"}))
		u := must[*Unified[float32]](t)(NewUnified[float32](d, n))
		fillHost(t, u, 3)
		other, host := upload(t, s, ramp(n)...), must[*HostBuffer[float32]](t)(AllocHost[float32](d, n))
		far := upload(t, foreign.DefaultStream(), ramp(n)...)
		view := must[*Buffer[float32]](t)(u.ReadDevice(s))
		box := Rect(0, 0, n, 1, n)
		bytes := must[*Unified[byte]](t)(NewUnified[byte](d, 64))
		do(t, bytes.WriteHost(ctx, func([]byte) {}))
		words := Reinterpret[uint32](must[*Buffer[byte]](t)(bytes.ReadDevice(s)))
		for name, err := range map[string]error{
			"Fill":                             Fill(s, view, 7),
			"Fill of a part":                   Fill(s, view.Slice(2, 5).Slice(0, 1), 7),
			"Fill of what it is reinterpreted": Fill(s, words, 7),
			"Zero":                             Zero(s, view),
			"CopyIn":                           CopyIn(s, view, ramp(n)),
			"Copy":                             Copy(s, view, other),
			"CopyBox":                          CopyBox(s, view, box, other, box),
			"CopyInBox":                        CopyInBox(s, view, box, ramp(n), box),
			"CopyInAsync":                      CopyInAsync(s, view, host),
			"CopyInBoxAsync":                   CopyInBoxAsync(s, view, box, host, box),
			"CopyInStrided":                    CopyInStrided(s, view, ramp(n), Strided{Shape: []int{n}, Stride: []int{1}}),
			"CopyPeer":                         CopyPeer(s, view, far),
			"CopyPeer on the device":           CopyPeer(s, view, other),
			"a launch that writes it":          launchSaxpy(k, s, Linear(n), 1, n, other, view),
			"a dynamic launch that writes it":  k.Launch(s, Linear(n), float32(1), n, other, view),
			"a launch that writes both":        launchSaxpy(k, s, Linear(n), 1, n, view, view),
			"a launch that may write it":       launchSaxpy(unknown, s, Linear(n), 1, n, view, other),
		} {
			if !errors.Is(err, ErrReadOnly) || !strings.Contains(err.Error(), "use WriteDevice") {
				t.Errorf("%s: %v", name, err)
			}
		}
		areInvalid(t, map[string]error{
			"capture":            second(d.Capture(func(s *Stream) error { return Zero(s, view) })),
			"capture of reading": second(d.Capture(func(s *Stream) error { return Copy(s, other, view) })),
		})
		do(t, launchSaxpy(k, s, Linear(n), 1, n, view, other))
		do(t, errors.Join(Copy(s, other, view), CopyBox(s, other, box, view, box), CopyPeer(s, other, view), CopyOutAsync(s, host, view)))
		if got := u.State(); got != StateSynchronised {
			t.Errorf("state is %v", got)
		}
		if got := readHost(t, u); slices.ContainsFunc(got, func(v float32) bool { return v != 3 }) {
			t.Errorf("read %v", got)
		}
		if got := download(t, s, view); slices.ContainsFunc(got, func(v float32) bool { return v != 3 }) {
			t.Errorf("on the device: %v", got)
		}
		closeAll(t, u, bytes, other, host, far, foreign)
	})
}

func TestErrorsOfViewsSayWhatToDo(t *testing.T) {
	d := openFake(t, fakecuda.New(1))
	s, other := d.DefaultStream(), must[*Stream](t)(d.NewStream(t.Context()))
	u := must[*Unified[float32]](t)(NewUnified[float32](d, 8))
	fillHost(t, u, 1)
	b := upload(t, s, ramp(8)...)
	foreign := must[*Device](t)(Open(Config{Device: "cpu"}))
	far := upload(t, foreign.DefaultStream(), ramp(8)...)
	view := must[*Buffer[float32]](t)(u.ReadDevice(s))
	for _, c := range []struct {
		err  error
		want string
	}{
		{Fill(s, view, 1), "gpu: fill: the buffer is a read-only view of a unified array; use WriteDevice"},
		{Copy(s, view, b), "gpu: copy: destination: the buffer is a read-only view of a unified array; use WriteDevice"},
		{launchSaxpy(saxpyReading(), s, Linear(8), 1, 8, b, view), "gpu: launch saxpy: argument y: the kernel may write it: the buffer is a read-only view of a unified array; use WriteDevice"},
		{launchSaxpy(saxpyReading(), other, Linear(8), 1, 8, view, b), "gpu: launch saxpy: argument x: the view of the unified array is for work on another stream; take one for this stream with ReadDevice or WriteDevice"},
		{CopyPeer(foreign.DefaultStream(), far, view), "gpu: copy between devices: source: the view of the unified array is for a stream of its own device; use the stream that it was taken for"},
		{Download(t.Context(), other, ramp(8), view), "gpu: download: the view of the unified array is for work on another stream; take one for this stream with ReadDevice or WriteDevice"},
	} {
		if got := fmt.Sprint(c.err); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	closeAll(t, u, b, other, d, far, foreign)
}

// Work on a stream other than the view's is not ordered with anything.
func TestViewsAreForOneStream(t *testing.T) {
	const n = 16
	k := saxpyReading()
	everyDevice(t, func(t *testing.T, d *Device) {
		s, wrong, ctx := d.DefaultStream(), must[*Stream](t)(d.NewStream(t.Context())), t.Context()
		foreign := must[*Device](t)(Open(Config{Device: "cpu"}))
		u := must[*Unified[float32]](t)(NewUnified[float32](d, 2*n))
		fillHost(t, u, 3)
		other, host := upload(t, s, ramp(n)...), must[*HostBuffer[float32]](t)(AllocHost[float32](d, n))
		far := upload(t, foreign.DefaultStream(), ramp(n)...)
		read, write := must[*Buffer[float32]](t)(u.Slice(0, n).ReadDevice(s)), must[*Buffer[float32]](t)(u.Slice(n, 2*n).WriteDevice(s))
		box, line := Rect(0, 0, n, 1, n), Strided{Shape: []int{n}, Stride: []int{1}}
		areInvalid(t, map[string]error{
			"Fill":                          Fill(wrong, write, 7),
			"CopyIn":                        CopyIn(wrong, write, ramp(n)),
			"Copy to it":                    Copy(wrong, write, other),
			"Copy from it":                  Copy(wrong, other, read),
			"Copy from what may be written": Copy(wrong, other, write),
			"CopyBox":                       CopyBox(wrong, other, box, read, box),
			"Download":                      Download(ctx, wrong, ramp(n), read),
			"DownloadBox":                   DownloadBox(ctx, wrong, ramp(n), box, read, box),
			"DownloadStrided":               DownloadStrided(ctx, wrong, ramp(n), line, read),
			"CopyOutAsync":                  CopyOutAsync(wrong, host, read),
			"CopyOutBoxAsync":               CopyOutBoxAsync(wrong, host, box, read, box),
			"CopyPeer on a stream of the other device": CopyPeer(foreign.DefaultStream(), far, read),
			"a launch":         launchSaxpy(k, wrong, Linear(n), 1, n, read, other),
			"a dynamic launch": k.Launch(wrong, Linear(n), float32(1), n, other, write),
		})
		do(t, errors.Join(Fill(s, write, 7), CopyPeer(s, far, read), launchSaxpy(k, s, Linear(n), 1, n, read, other)))
		do(t, Copy(wrong, other, must[*Buffer[float32]](t)(u.Slice(n, 2*n).ReadDevice(wrong))))
		if got := download(t, wrong, other); got[n-1] != 7 {
			t.Errorf("the other stream's own view shows %v", got)
		}
		closeAll(t, u, other, host, far, foreign, wrong)
	})
}

// A candidate of Tune may hold a view for the stream that is being tuned. To list the
// kernels, Tune passes another stream, on which launches do nothing.
func TestTuneTakesViews(t *testing.T) {
	k := saxpyReading()
	d := must[*Device](t)(Open(Config{Device: "cpu"}))
	s := d.DefaultStream()
	u := must[*Unified[float32]](t)(NewUnified[float32](d, 8))
	fillHost(t, u, 1)
	view := must[*Buffer[float32]](t)(u.WriteDevice(s))
	tuned, err := Tune(t.Context(), s, Tuning{Name: "views", Dir: t.TempDir(), Candidates: []Candidate{
		{"one", func(s *Stream) error { return launchSaxpy(k, s, Linear(8), 0, 8, view, view) }},
	}})
	if err != nil || tuned.Winner != "one" {
		t.Errorf("got %v, %v", tuned, err)
	}
	closeAll(t, u, d)
}

// An inline launch would hold the view until it is closed, and the host would wait
// for it.
func TestACallHoldsNoView(t *testing.T) {
	d := must[*Device](t)(Open(Config{Device: "cpu"}))
	s := d.DefaultStream()
	u := must[*Unified[float32]](t)(NewUnified[float32](d, 8))
	fillHost(t, u, 1)
	l := must[*Launch](t)(NewKernel(saxpyInfo).Begin(s, Linear(8)))
	view := must[*Buffer[float32]](t)(u.WriteDevice(s))
	Arg(l, float32(1))
	Arg(l, 8)
	SliceArg(l, view)
	SliceArg(l, view)
	_, err := l.Inline()
	if want := "gpu: prepare inline launch of saxpy: argument x: an inline launch cannot hold a view of a unified array, because the view ends when the host takes one; use a Buffer"; !errors.Is(err, ErrInvalid) || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	readHost(t, u) // does not wait
	closeAll(t, u, d)
}
