package video

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"quern.dev/gpu"
)

// Info describes the first video stream of a file.
type Info struct {
	Width, Height int // as it is shown: after the rotation
	Rotation      int // degrees by which the stored frames are turned: 0, 90, 180 or 270, clockwise
	Rate          Rate
	Frames        int // as the file says, or 0 if it does not
	Duration      time.Duration
	Codec         string // ffmpeg's name: "h264"
	PixelFormat   string // ffmpeg's name: "yuv420p"
	Colors        Colors
}

// probed is what ffprobe prints.
type probed struct {
	Streams []struct {
		CodecName    string `json:"codec_name"`
		PixFmt       string `json:"pix_fmt"`
		Width        int    `json:"width"`
		Height       int    `json:"height"`
		AvgFrameRate string `json:"avg_frame_rate"`
		RFrameRate   string `json:"r_frame_rate"`
		Frames       string `json:"nb_frames"`
		Duration     string `json:"duration"`
		ColorSpace   string `json:"color_space"`
		ColorRange   string `json:"color_range"`
		Tags         struct {
			Rotate string `json:"rotate"`
		} `json:"tags"`
		SideData []struct {
			Rotation float64 `json:"rotation"`
		} `json:"side_data_list"`
	} `json:"streams"`
	Format struct {
		Duration string `json:"duration"`
	} `json:"format"`
}

// Inspect describes a file without decoding it.
func (t Tools) Inspect(ctx context.Context, name string) (Info, error) {
	var info Info
	path, err := t.ffprobe("open")
	if err != nil {
		return info, err
	}
	out, err := runTool(ctx, "open", name, path, "-v", "error", "-select_streams", "v:0", "-show_streams", "-show_format", "-of", "json", "file:"+name)
	if err != nil {
		if e := (*Error)(nil); errors.As(err, &e) && ctx.Err() == nil {
			e.Kind, e.Reason = ErrFormat, "ffprobe cannot read it"
		}
		return info, err
	}
	var p probed
	if err := json.Unmarshal(out, &p); err != nil || len(p.Streams) == 0 {
		return info, fail(ErrFormat, "open", name, "it has no video stream")
	}
	s := p.Streams[0]
	info = Info{Width: s.Width, Height: s.Height, Codec: s.CodecName, PixelFormat: s.PixFmt}
	if info.Width < 1 || info.Height < 1 || info.Width > 32768 || info.Height > 32768 {
		return info, fail(ErrFormat, "open", name, "frames of %d x %d", s.Width, s.Height)
	}
	turn := 0.0
	for _, d := range s.SideData {
		turn -= d.Rotation // ffprobe counts counterclockwise
	}
	if len(s.SideData) == 0 && s.Tags.Rotate != "" {
		turn, _ = strconv.ParseFloat(s.Tags.Rotate, 64)
	}
	info.Rotation = (int(math.Round(turn/90))*90%360 + 360) % 360
	if info.Rotation%180 != 0 {
		info.Width, info.Height = info.Height, info.Width
	}
	info.Rate = parseRate(s.AvgFrameRate)
	if !info.Rate.valid() {
		info.Rate = parseRate(s.RFrameRate)
	}
	info.Frames, _ = strconv.Atoi(s.Frames)
	if seconds, err := strconv.ParseFloat(either(s.Duration, p.Format.Duration), 64); err == nil {
		info.Duration = time.Duration(seconds * float64(time.Second))
	}
	info.Colors.Full = s.ColorRange == "pc" || strings.HasPrefix(s.PixFmt, "yuvj")
	switch s.ColorSpace {
	case "bt709":
	case "bt2020nc", "bt2020c":
		info.Colors.Matrix = BT2020
	case "smpte170m", "bt470bg":
		info.Colors.Matrix = BT601
	default:
		if s.Height < 720 { // the convention for files that do not say it
			info.Colors.Matrix = BT601
		}
	}
	return info, nil
}

func parseRate(s string) Rate {
	num, den, _ := strings.Cut(s, "/")
	var r Rate
	r.Num, _ = strconv.Atoi(num)
	r.Den, _ = strconv.Atoi(either(den, "1"))
	return r
}

// Decoder reads the frames of a file, in the order in which they are shown, turned as the file says. It is for one
// goroutine at a time.
type Decoder struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	info   Info
	name   string
	w, h   int // of frames as ffmpeg sends them: even
	cmd    *exec.Cmd
	pipe   io.ReadCloser
	stderr *tail

	slots []*slot
	free  chan *slot
	full  chan *slot
	err   error // of the process, after full is closed
}

// Open starts reading a file. The end of ctx stops it.
func Open(ctx context.Context, dev *gpu.Device, name string, t Tools) (*Decoder, error) {
	info, err := t.Inspect(ctx, name)
	if err != nil {
		return nil, err
	}
	path, err := t.ffmpeg("open")
	if err != nil {
		return nil, err
	}
	d := &Decoder{info: info, name: name, w: info.Width &^ 1, h: info.Height &^ 1, free: make(chan *slot, slots), full: make(chan *slot, slots)}
	if d.w == 0 || d.h == 0 {
		return nil, fail(ErrFormat, "open", name, "frames of %d x %d are too small", info.Width, info.Height)
	}
	d.info.Width, d.info.Height = d.w, d.h
	d.ctx, d.cancel = context.WithCancelCause(ctx)
	d.cmd, d.stderr = command(d.ctx, path, "-hide_banner", "-nostdin", "-loglevel", "error", "-i", "file:"+name, "-map", "0:v:0",
		"-vf", "crop="+strconv.Itoa(d.w)+":"+strconv.Itoa(d.h)+":0:0", "-vsync", "passthrough", "-f", "rawvideo", "-pix_fmt", "nv12", "pipe:1")
	if d.slots, err = newSlots(dev, NV12.Bytes(d.w, d.h), d.free); err == nil {
		err = d.start()
	}
	if err != nil {
		d.cancel(err)
		return nil, errors.Join(err, d.release())
	}
	go d.run()
	return d, nil
}

func (d *Decoder) start() (err error) {
	if d.pipe, err = d.cmd.StdoutPipe(); err == nil {
		err = d.cmd.Start()
	}
	if err != nil {
		return failure(d.ctx, "open", d.name, err, d.stderr)
	}
	return nil
}

func (d *Decoder) release() error {
	err := closeSlots(d.slots)
	d.slots = nil
	return err
}

// run reads frames ahead.
func (d *Decoder) run() {
	defer close(d.full)
	defer context.AfterFunc(d.ctx, func() { d.pipe.Close() })() // a child of the process may hold its other end
	in := bufio.NewReaderSize(d.pipe, 1<<16)
	for {
		var s *slot
		select {
		case s = <-d.free:
		case <-d.ctx.Done():
			d.cmd.Wait() // killed
			d.err = failure(d.ctx, "read", d.name, d.ctx.Err(), d.stderr)
			return
		}
		if err := s.ready.Synchronize(d.ctx); err != nil { // of the copy before
			d.cancel(err)
			continue
		}
		_, err := io.ReadFull(in, s.host.Data())
		if err == nil {
			d.full <- s
			continue
		}
		waitErr := d.cmd.Wait()
		switch {
		case waitErr != nil:
			d.err = failure(d.ctx, "read", d.name, waitErr, d.stderr)
		case err == io.EOF:
			d.err = io.EOF
		default:
			d.err = failure(d.ctx, "read", d.name, err, d.stderr)
		}
		return
	}
}

// Info describes the video. An odd width or height is one less than the file's.
func (d *Decoder) Info() Info { return d.info }

// Read queues the conversion of the next frame to RGBA, which has 4*Width*Height bytes. After the last frame it returns
// io.EOF.
func (d *Decoder) Read(s *gpu.Stream, rgba *gpu.Buffer[uint8]) error {
	sl, ok := <-d.full
	if !ok {
		return d.err
	}
	defer func() { d.free <- sl }()
	if err := gpu.CopyInAsync(s, sl.frame, sl.host); err != nil {
		return err
	}
	if err := d.info.Colors.Decode(s, NV12, d.w, d.h, sl.frame, rgba); err != nil {
		return err
	}
	return s.Record(sl.ready)
}

// Close stops ffmpeg and frees memory. Closing again does nothing.
func (d *Decoder) Close() error {
	d.cancel(fail(ErrClosed, "read", d.name, "closed"))
	for range d.full { // until run has ended
	}
	return d.release()
}

// Transcode reads a video, changes each frame by a function, and writes it. change is called with the index of a frame and
// queues work on the stream; the frame is RGBA, and change may be nil. Width, Height and Rate of the options are those of
// the input.
func Transcode(ctx context.Context, dev *gpu.Device, output, input string, o Options, change func(s *gpu.Stream, index int, frame *gpu.Buffer[uint8]) error) (err error) {
	d, err := Open(ctx, dev, input, o.Tools)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	o.Width, o.Height, o.Rate = d.w, d.h, d.info.Rate
	e, err := Create(ctx, dev, output, o)
	if err != nil {
		return err
	}
	defer e.Abort()
	s, err := dev.NewStream(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	frame, err := gpu.Alloc[uint8](dev, 4*d.w*d.h)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, frame.Close()) }()
	for i := 0; ; i++ {
		if err := d.Read(s, frame); err == io.EOF {
			return e.Close()
		} else if err != nil {
			return err
		}
		if change != nil {
			if err := change(s, i, frame); err != nil {
				return err
			}
		}
		if err := e.WriteFrame(s, frame); err != nil {
			return err
		}
	}
}
