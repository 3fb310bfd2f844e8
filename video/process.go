package video

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// Tools are the programs that this package runs. Empty names are looked up in PATH.
type Tools struct {
	FFmpeg  string // "ffmpeg"
	FFprobe string // "ffprobe"
}

func (t Tools) ffmpeg(op string) (string, error)  { return find(op, t.FFmpeg, "ffmpeg") }
func (t Tools) ffprobe(op string) (string, error) { return find(op, t.FFprobe, "ffprobe") }

func find(op, name, standard string) (string, error) {
	if name == "" {
		name = standard
	}
	path, err := exec.LookPath(name)
	if err != nil {
		e := fail(ErrNotFound, op, name, "not found; install ffmpeg, or say where it is")
		e.Err = err
		return "", e
	}
	return path, nil
}

// waitDelay is how long pipes of a process that was killed may stay open, which its children hold.
const waitDelay = time.Second

// command prepares a process that ends with ctx. Its last lines on stderr are kept.
func command(ctx context.Context, path string, args ...string) (*exec.Cmd, *tail) {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.WaitDelay = waitDelay
	t := new(tail)
	cmd.Stderr = t
	return cmd, t
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const (
	tailBytes = 4096
	tailLines = 8
)

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if n := len(t.text) - tailBytes; n > 0 {
		t.text = append(t.text[:0], t.text[n:]...)
	}
	return len(p), nil
}

// String returns the last lines.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	return strings.Join(lines[max(len(lines)-tailLines, 0):], "\n")
}

// failure is the error of a process that ended with err. The end of ctx is the reason if it has ended.
func failure(ctx context.Context, op, object string, err error, stderr *tail) error {
	if cause := context.Cause(ctx); cause != nil {
		return &Error{Op: op, Object: object, Reason: "ffmpeg was stopped", Stderr: stderr.String(), Kind: ErrProcess, Err: cause}
	}
	e := fail(ErrProcess, op, object, "ffmpeg ended early")
	e.Stderr, e.Err = stderr.String(), err
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		e.Reason = "ffmpeg failed"
	} else if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		e.Reason = "ffmpeg cannot be started"
	}
	return e
}

// runTool runs a short command and returns what it prints.
func runTool(ctx context.Context, op, object, path string, args ...string) ([]byte, error) {
	cmd, stderr := command(ctx, path, args...)
	out, err := cmd.Output()
	if err != nil {
		return nil, failure(ctx, op, object, err, stderr)
	}
	return out, nil
}

// partial makes an empty file for what is not complete yet, and returns its name, which begins with prefix.
func partial(op, name, prefix string) (string, error) {
	temp := fmt.Sprintf("%s.%08x.partial", prefix, rand.Uint32())
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		e := fail(ErrOutput, op, name, "no file can be made in its folder")
		e.Err = err
		return "", e
	}
	return temp, nil
}
