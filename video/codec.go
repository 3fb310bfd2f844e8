package video

import (
	"context"
	"fmt"
	"strconv"
	"sync"
)

// Codec is an encoder of ffmpeg.
type Codec string

// Encoders.
const (
	X264      Codec = "libx264"    // H.264 on the CPU
	SVTAV1    Codec = "libsvtav1"  // AV1 on the CPU
	H264NVENC Codec = "h264_nvenc" // H.264 by the encoder of an NVIDIA GPU; datacenter GPUs have none
	HEVCNVENC Codec = "hevc_nvenc" // HEVC by the same
	// Auto is H264NVENC where it works, and X264 elsewhere; SVTAV1 for WebM.
	Auto Codec = "auto"
)

// ParseCodec returns the encoder with a short name: x264, av1, h264-nvenc, hevc-nvenc or auto.
func ParseCodec(name string) (Codec, bool) {
	c, ok := map[string]Codec{"x264": X264, "av1": SVTAV1, "h264-nvenc": H264NVENC, "hevc-nvenc": HEVCNVENC, "auto": Auto}[name]
	return c, ok
}

// arguments returns the options of ffmpeg for an encoder.
func (c Codec) arguments(o *Options) []string {
	args := []string{"-c:v", string(c)}
	preset, crf := o.Preset, o.CRF
	quality := "-crf"
	switch c {
	case X264:
		preset, crf = either(preset, "medium"), orElse(crf, 20)
	case SVTAV1:
		preset, crf = either(preset, "10"), orElse(crf, 35)
	case H264NVENC, HEVCNVENC:
		preset, crf = either(preset, "p4"), orElse(crf, 23)
		quality = "-cq"
		if o.Bitrate == 0 {
			args = append(args, "-rc", "vbr", "-b:v", "0")
		}
	}
	args = append(args, "-preset", preset)
	if o.Bitrate > 0 {
		return append(args, "-b:v", strconv.FormatInt(o.Bitrate, 10))
	}
	return append(args, quality, strconv.Itoa(crf))
}

func either(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

func orElse(a, b int) int {
	if a == 0 {
		return b
	}
	return a
}

// probes holds the results of Probe by program and codec.
var probes sync.Map // of probeKey to func() error

type probeKey struct {
	path  string
	codec Codec
}

// Probe reports whether an encoder works on this machine: it encodes a few small frames, once per program. The error
// matches ErrCodec and has the reason. Auto works if one of its encoders does.
func (t Tools) Probe(ctx context.Context, c Codec) error {
	path, err := t.ffmpeg("probe")
	if err != nil {
		return err
	}
	if c == Auto {
		return t.Probe(ctx, X264)
	}
	key := probeKey{path, c}
	if r, ok := probes.Load(key); ok {
		if r == nil {
			return nil
		}
		return r.(*Error)
	}
	cmd, stderr := command(ctx, path, "-hide_banner", "-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", "color=size=256x256:rate=30",
		"-frames:v", "3", "-pix_fmt", "yuv420p", "-c:v", string(c), "-f", "null", "-")
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return failure(ctx, "probe", string(c), err, stderr) // says nothing about the encoder
		}
		e := fail(ErrCodec, "probe", string(c), "ffmpeg cannot use this encoder here")
		e.Err, e.Stderr = err, stderr.String()
		probes.Store(key, e)
		return e
	}
	probes.Store(key, nil)
	return nil
}

// resolve returns the encoder that Auto stands for, and checks the others that depend on the machine.
func (t Tools) resolve(ctx context.Context, c Codec) (Codec, error) {
	switch c {
	case "":
		return X264, nil
	case Auto:
		if t.Probe(ctx, H264NVENC) == nil {
			return H264NVENC, nil
		}
		return X264, ctx.Err()
	case X264, SVTAV1:
		return c, nil
	case H264NVENC, HEVCNVENC:
		return c, t.Probe(ctx, c)
	}
	return "", fail(ErrArgument, "create", "codec", "unknown codec %q", string(c))
}

// Rate is a number of frames per second, such as {30000, 1001}.
type Rate struct{ Num, Den int }

// FPS returns a whole number of frames per second.
func FPS(n int) Rate { return Rate{n, 1} }

// Float returns the rate as a number.
func (r Rate) Float() float64 { return float64(r.Num) / float64(r.Den) }

// String returns the rate as ffmpeg writes it.
func (r Rate) String() string { return fmt.Sprintf("%d/%d", r.Num, r.Den) }

func (r Rate) valid() bool { return r.Num > 0 && r.Den > 0 }
