package video

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"quern.dev/gpu"
)

// Options say what an Encoder writes. Width, Height and Rate are required.
type Options struct {
	Tools
	Width, Height int // even, except with RGB24
	Rate          Rate
	Codec         Codec // X264 if empty
	// CRF is the constant quality: lower is better. 0 means the encoder's default here: 20 for x264, 35 for AV1, 23 for NVENC.
	CRF int
	// Bitrate in bits per second replaces CRF.
	Bitrate int64
	// Preset is the encoder's own name of its speed: "veryfast" for x264, "10" for SVT-AV1, "p4" for NVENC.
	Preset string
	// Format is how frames are sent to ffmpeg. The encoders store 4:2:0 in any case; with RGB24, ffmpeg converts.
	Format Format
	Colors Colors
	// FastStart puts the index of an MP4 or MOV file before the frames, so that it plays while it is loaded.
	FastStart bool
	// Progress is called with the number of frames that ffmpeg has taken, by one goroutine at a time. It may be nil.
	Progress func(frames int)
}

// Stats are times of an encoder.
type Stats struct {
	Frames int
	// Wait is how long WriteFrame waited because ffmpeg was behind.
	Wait time.Duration
}

// slots is how many frames are under way between the device and ffmpeg.
const slots = 3

// slot is the memory of a frame on its way.
type slot struct {
	frame *gpu.Buffer[uint8]
	host  *gpu.HostBuffer[uint8]
	ready *gpu.Event
}

// newSlots allocates slots and puts them into free. After an error the caller closes those that there are.
func newSlots(dev *gpu.Device, size int, free chan<- *slot) (all []*slot, err error) {
	for range slots {
		s := new(slot)
		all = append(all, s)
		if s.frame, err = gpu.Alloc[uint8](dev, size); err != nil {
			return all, err
		}
		if s.host, err = gpu.AllocHost[uint8](dev, size); err != nil {
			return all, err
		}
		if s.ready, err = dev.NewEvent(); err != nil {
			return all, err
		}
		free <- s
	}
	return all, nil
}

func closeSlots(all []*slot) error {
	var errs []error
	for _, s := range all {
		if s.frame != nil {
			errs = append(errs, s.frame.Close())
		}
		if s.host != nil {
			errs = append(errs, s.host.Close())
		}
		if s.ready != nil {
			errs = append(errs, s.ready.Close())
		}
	}
	return errors.Join(errs...)
}

// Encoder writes a video file. The file appears under its name when Close succeeds. An Encoder is for one goroutine at a
// time.
type Encoder struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	opt    Options
	name   string
	temp   string
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr *tail

	all    []*slot
	free   chan *slot
	queue  chan *slot
	done   chan struct{} // closed when the process has ended
	err    error         // of the process, after done
	fault  error         // of the device, after done
	closed bool
	wait   time.Duration
	frames int
}

// muxers are the names of ffmpeg's formats by extension.
var muxers = map[string]string{".mp4": "mp4", ".m4v": "mp4", ".mov": "mov", ".mkv": "matroska", ".webm": "webm", ".nut": "nut"}

func (o *Options) check(name string) (muxer string, err error) {
	if o.Width < 1 || o.Height < 1 || o.Width > 16384 || o.Height > 16384 || o.Width%2 != 0 || o.Height%2 != 0 {
		return "", fail(ErrArgument, "create", "size", "%d x %d: want even numbers up to 16384", o.Width, o.Height)
	}
	if !o.Rate.valid() {
		return "", fail(ErrArgument, "create", "rate", "%d/%d frames per second: want positive numbers", o.Rate.Num, o.Rate.Den)
	}
	if o.CRF < 0 || o.CRF > 63 || o.Bitrate < 0 {
		return "", fail(ErrArgument, "create", "quality", "CRF %d, bitrate %d: want a CRF of 0 to 63 and no negative bitrate", o.CRF, o.Bitrate)
	}
	if o.Format > RGB24 || o.Colors.Matrix > BT2020 {
		return "", fail(ErrArgument, "create", "format", "unknown format or matrix")
	}
	muxer, ok := muxers[strings.ToLower(filepath.Ext(name))]
	if !ok {
		return "", fail(ErrArgument, "create", name, "unknown extension; want .mp4, .mov, .mkv, .webm or .nut")
	}
	return muxer, nil
}

// Create starts writing a file. The end of ctx stops ffmpeg, and the file does not appear. A file that exists is replaced
// by Close.
func Create(ctx context.Context, dev *gpu.Device, name string, o Options) (*Encoder, error) {
	muxer, err := o.check(name)
	if err != nil {
		return nil, err
	}
	path, err := o.ffmpeg("create")
	if err != nil {
		return nil, err
	}
	if o.Codec == Auto && muxer == "webm" {
		o.Codec = SVTAV1 // WebM has no H.264
	}
	if o.Codec, err = o.resolve(ctx, o.Codec); err != nil {
		return nil, err
	}
	folder, base := filepath.Split(name)
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return nil, fail(ErrOutput, "create", name, "it is a folder")
	}
	temp, err := partial("create", name, filepath.Join(folder, "."+base))
	if err != nil {
		return nil, err
	}
	e := &Encoder{opt: o, name: name, temp: temp, free: make(chan *slot, slots), queue: make(chan *slot, slots), done: make(chan struct{})}
	e.ctx, e.cancel = context.WithCancelCause(ctx)
	e.cmd, e.stderr = command(e.ctx, path, o.arguments(muxer, temp)...)
	if e.all, err = newSlots(dev, o.Format.Bytes(o.Width, o.Height), e.free); err == nil {
		err = e.start()
	}
	if err != nil {
		e.cancel(err)
		return nil, errors.Join(err, e.release(), os.Remove(temp))
	}
	go e.run()
	return e, nil
}

// arguments returns the command line of ffmpeg.
func (o *Options) arguments(muxer, output string) []string {
	args := []string{"-hide_banner", "-loglevel", "error", "-y",
		"-f", "rawvideo", "-pixel_format", o.Format.name(), "-video_size", strconv.Itoa(o.Width) + "x" + strconv.Itoa(o.Height), "-framerate", o.Rate.String()}
	if o.Format != RGB24 {
		args = append(args, o.Colors.tags()...)
	}
	args = append(args, "-i", "pipe:0", "-an")
	args = append(args, o.Codec.arguments(o)...)
	if o.Format == RGB24 {
		args = append(args, "-vf", "scale=out_color_matrix="+o.Colors.scale())
	}
	args = append(args, "-pix_fmt", "yuv420p")
	args = append(args, o.Colors.tags()...)
	if o.FastStart && (muxer == "mp4" || muxer == "mov") {
		args = append(args, "-movflags", "+faststart")
	}
	return append(args, "-f", muxer, output)
}

// tags returns the options that say how colors are stored.
func (c Colors) tags() []string {
	name, primaries, transfer := c.Matrix.name(), "bt709", "bt709"
	switch c.Matrix {
	case BT601:
		primaries, transfer = "smpte170m", "smpte170m"
	case BT2020:
		primaries, transfer = "bt2020", "bt2020-10"
	}
	span := "tv"
	if c.Full {
		span = "pc"
	}
	return []string{"-colorspace", name, "-color_primaries", primaries, "-color_trc", transfer, "-color_range", span}
}

// scale returns the parameters of ffmpeg's own conversion.
func (c Colors) scale() string {
	span := "tv"
	if c.Full {
		span = "pc"
	}
	return [...]string{"bt709", "bt601", "bt2020"}[c.Matrix] + ":out_range=" + span
}

func (e *Encoder) start() (err error) {
	if e.stdin, err = e.cmd.StdinPipe(); err == nil {
		err = e.cmd.Start()
	}
	if err != nil {
		return failure(e.ctx, "create", e.name, err, e.stderr)
	}
	return nil
}

func (e *Encoder) release() error {
	err := closeSlots(e.all)
	e.all = nil
	return err
}

// run passes frames to the process until the queue is closed, and waits for the process.
func (e *Encoder) run() {
	defer close(e.done)
	defer context.AfterFunc(e.ctx, func() { e.stdin.Close() })() // a child of the process may hold its other end
	err := e.feed()
	if closeErr := e.stdin.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		// The process has stopped reading. It gets a moment to say why.
		defer time.AfterFunc(waitDelay, func() { e.cancel(errors.New("ffmpeg stopped reading frames and did not end")) }).Stop()
	}
	if waitErr := e.cmd.Wait(); waitErr != nil && e.fault == nil {
		err = waitErr
	}
	if e.fault != nil {
		e.err = e.fault
	} else if err != nil {
		e.err = failure(e.ctx, "write", e.name, err, e.stderr)
	}
}

// feed writes frames to the process.
func (e *Encoder) feed() error {
	n := 0
	for s := range e.queue {
		if err := s.ready.Synchronize(e.ctx); err != nil {
			if e.ctx.Err() == nil {
				e.fault = err
				e.cancel(err)
			}
			return err
		}
		if _, err := e.stdin.Write(s.host.Data()); err != nil {
			return err
		}
		e.free <- s
		n++
		if e.opt.Progress != nil {
			e.opt.Progress(n)
		}
	}
	return nil
}

// WriteFrame queues a frame of RGBA, four bytes per pixel, on the stream that has drawn it. It returns when the conversion
// is queued: later work on the stream may change the frame. It waits while three frames are under way. An error of an
// earlier frame is returned too; the encoder is of no use then.
func (e *Encoder) WriteFrame(s *gpu.Stream, rgba *gpu.Buffer[uint8]) error {
	if e.closed {
		return fail(ErrClosed, "write", e.name, "the encoder is closed")
	}
	start := time.Now()
	var sl *slot
	select {
	case sl = <-e.free:
	default:
		select {
		case sl = <-e.free:
		case <-e.done:
			return e.err
		case <-e.ctx.Done():
			<-e.done
			return e.err
		}
	}
	e.wait += time.Since(start)
	err := e.opt.Colors.Encode(s, e.opt.Format, e.opt.Width, e.opt.Height, rgba, sl.frame)
	if err == nil {
		err = gpu.CopyOutAsync(s, sl.host, sl.frame)
	}
	if err == nil {
		err = s.Record(sl.ready)
	}
	if err != nil {
		e.free <- sl
		return err
	}
	e.queue <- sl
	e.frames++
	return nil
}

// Stats returns how many frames were queued, and how long WriteFrame waited.
func (e *Encoder) Stats() Stats { return Stats{Frames: e.frames, Wait: e.wait} }

// Codec returns the encoder in use, which is what Auto stands for.
func (e *Encoder) Codec() Codec { return e.opt.Codec }

// Close waits until ffmpeg has written everything, and gives the file its name. After an error there is no file, and an
// existing file of that name is unchanged.
func (e *Encoder) Close() error {
	if e.closed {
		return fail(ErrClosed, "close", e.name, "the encoder is closed")
	}
	err := e.finish()
	if err == nil && e.frames == 0 {
		err = fail(ErrArgument, "close", e.name, "no frames were written")
	}
	if info, statErr := os.Stat(e.temp); err == nil && (statErr != nil || info.Size() == 0) {
		failed := fail(ErrProcess, "close", e.name, "ffmpeg has written nothing")
		failed.Stderr = e.stderr.String()
		err = failed
	}
	if err == nil {
		if err = os.Rename(e.temp, e.name); err == nil {
			return nil
		}
		failed := fail(ErrOutput, "close", e.name, "the finished file cannot be given its name")
		failed.Err = err
		err = failed
	}
	return errors.Join(err, remove(e.temp))
}

// finish ends the process and frees memory.
func (e *Encoder) finish() error {
	e.closed = true
	close(e.queue)
	<-e.done
	e.cancel(nil)
	return errors.Join(e.err, e.release())
}

// Abort stops ffmpeg and removes what it has written. After Close it does nothing, so that it can be deferred.
func (e *Encoder) Abort() error {
	if e.closed {
		return nil
	}
	e.cancel(fail(ErrClosed, "write", e.name, "aborted"))
	e.finish() // the error is that of the abort
	return remove(e.temp)
}

// remove removes a file, which may be gone.
func remove(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
