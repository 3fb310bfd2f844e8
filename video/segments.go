package video

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"quern.dev/gpu"
)

// shortest is the least number of frames of a segment. Decoding times of a segment with fewer frames than an encoder reorders
// differ from those of the others.
const shortest = 16

// Segments writes a file of n frames by several encoders at the same time, and joins their parts without encoding them
// again. write writes count frames from the frame first to an encoder; it is called by one goroutine per segment, and must
// not close the encoder. The segments have the same number of frames, or one less, and at least 16: there may be fewer of
// them than asked for. Options.Progress gets the sum.
func Segments(ctx context.Context, dev *gpu.Device, name string, o Options, n, segments int, write func(ctx context.Context, e *Encoder, first, count int) error) error {
	if n < 1 || segments < 1 {
		return fail(ErrArgument, "create", name, "%d frames in %d segments: want positive numbers", n, segments)
	}
	segments = max(min(segments, n/shortest), 1)
	folder, err := os.MkdirTemp(filepath.Dir(name), "."+filepath.Base(name)+".*.partial")
	if err != nil {
		e := fail(ErrOutput, "create", name, "no folder can be made beside it")
		e.Err = err
		return e
	}
	defer os.RemoveAll(folder)

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	part := o
	part.FastStart = false
	if o.Progress != nil {
		var mu sync.Mutex
		total := 0
		part.Progress = func(int) {
			mu.Lock()
			defer mu.Unlock()
			total++
			o.Progress(total)
		}
	}
	parts := make([]string, segments)
	errs := make([]error, segments)
	var wg sync.WaitGroup
	for i := range segments {
		first, end := i*n/segments, (i+1)*n/segments
		parts[i] = filepath.Join(folder, fmt.Sprintf("%06d%s", i, filepath.Ext(name)))
		wg.Go(func() {
			if errs[i] = segment(ctx, dev, parts[i], part, first, end-first, write); errs[i] != nil {
				cancel(errs[i])
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return Join(ctx, name, parts, o)
}

func segment(ctx context.Context, dev *gpu.Device, name string, o Options, first, count int, write func(ctx context.Context, e *Encoder, first, count int) error) error {
	e, err := Create(ctx, dev, name, o)
	if err != nil {
		return err
	}
	defer e.Abort()
	if err := write(ctx, e, first, count); err != nil {
		return err
	}
	if e.frames != count {
		return fail(ErrArgument, "write", name, "%d frames in a segment of %d", e.frames, count)
	}
	return e.Close()
}

// Join makes one file of several, which have the same codec, size and rate, without encoding them again. It uses Tools,
// Rate and FastStart of the options.
func Join(ctx context.Context, name string, parts []string, o Options) error {
	muxer, ok := muxers[strings.ToLower(filepath.Ext(name))]
	if !ok {
		return fail(ErrArgument, "join", name, "unknown extension; want .mp4, .mov, .mkv, .webm or .nut")
	}
	if len(parts) == 0 {
		return fail(ErrArgument, "join", name, "no parts")
	}
	path, err := o.ffmpeg("join")
	if err != nil {
		return err
	}
	probe, err := o.ffprobe("join")
	if err != nil {
		return err
	}
	var list strings.Builder
	list.WriteString("ffconcat version 1.0\n")
	frames := 0
	for _, p := range parts {
		full, err := filepath.Abs(p)
		if err != nil {
			return err
		}
		n, err := countFrames(ctx, probe, full)
		if err != nil {
			return err
		}
		frames += n
		fmt.Fprintf(&list, "file 'file:%s'\n", strings.ReplaceAll(full, "'", `'\''`))
		if o.Rate.valid() {
			fmt.Fprintf(&list, "duration %.9f\n", float64(n)/o.Rate.Float())
		}
	}
	temp, err := partial("join", name, filepath.Join(filepath.Dir(name), "."+filepath.Base(name)))
	if err != nil {
		return err
	}
	args := []string{"-hide_banner", "-loglevel", "error", "-y", "-f", "concat", "-safe", "0", "-protocol_whitelist", "file,pipe", "-i", "pipe:0", "-map", "0:v", "-c", "copy"}
	if o.FastStart && (muxer == "mp4" || muxer == "mov") {
		args = append(args, "-movflags", "+faststart")
	}
	cmd, stderr := command(ctx, path, append(args, "-f", muxer, temp)...)
	cmd.Stdin = strings.NewReader(list.String())
	if err := cmd.Run(); err != nil {
		return errors.Join(failure(ctx, "join", name, err, stderr), remove(temp))
	}
	n, err := countFrames(ctx, probe, temp)
	if err == nil && n != frames {
		err = fail(ErrProcess, "join", name, "the joined file has %d frames, its parts %d", n, frames)
	}
	if err == nil {
		if err = os.Rename(temp, name); err == nil {
			return nil
		}
		e := fail(ErrOutput, "join", name, "the finished file cannot be given its name")
		e.Err = err
		err = e
	}
	return errors.Join(err, remove(temp))
}

// countFrames counts the packets of a file, which are its frames. Nothing is decoded.
func countFrames(ctx context.Context, probe, name string) (int, error) {
	out, err := runTool(ctx, "probe", name, probe, "-v", "error", "-select_streams", "v:0", "-count_packets", "-show_entries", "stream=nb_read_packets", "-of", "csv=p=0", "file:"+name)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(strings.Trim(strings.TrimSpace(string(out)), ","))
	if err != nil {
		return 0, fail(ErrFormat, "probe", name, "ffprobe says %q", out)
	}
	return n, nil
}
