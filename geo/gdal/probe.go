package gdal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"quern.dev/geo/tiff"
)

// Libraries of some formats crash on damaged files. Such a file is first opened in a process of its own: the program is started again with
// this variable, and ends in init.
const probeVariable = "QUERN_GDAL_PROBE"

// probeTime is how long a process may take.
const probeTime = time.Minute

// probeBytes is how many bytes of pixels a process reads at most.
const probeBytes = 64 << 20

// probed is what a process opens.
type probed struct {
	Name string
	Options
}

func init() {
	text := os.Getenv(probeVariable)
	if text == "" {
		return
	}
	var p probed
	if err := json.Unmarshal([]byte(text), &p); err != nil || p.Name == "" {
		fmt.Fprintf(os.Stderr, "gdal: the environment variable %s is for a process that the program starts itself; unset it\n", probeVariable)
		os.Exit(1)
	}
	p.read()
	os.Exit(0)
}

// read does what may crash. Errors do not matter: they occur again in the process that asked.
func (p *probed) read() {
	p.Handles = 1
	f, err := open(p.Name, p.Options)
	if err != nil {
		return
	}
	defer f.Close()
	for _, im := range f.Images() {
		r := im.All()
		row := im.Width * im.Bands * im.Type.Size()
		r.Height = min(r.Height, probeBytes/row)
		if r.Height == 0 {
			continue
		}
		_ = im.ReadRegion(context.Background(), tiff.Bytes(make([]complex128, (r.Height*row+15)/16))[:r.Height*row], r)
	}
}

// fragile are the first bytes of formats whose libraries crash, and prefixes of names.
var (
	fragileBytes = []string{"CDF\x01", "CDF\x02", "CDF\x05", "\x89HDF\r\n\x1a\n", "\x0e\x03\x13\x01"}
	fragileNames = []string{"NETCDF:", "HDF5:", "HDF4:", "HDF4_SDS:", "HDF4_EOS:", "BAG:", "KEA:", "S102:"}
)

// fragile reports whether a crash has to be expected if a file is damaged.
func fragile(name string) bool {
	if slices.ContainsFunc(fragileNames, func(p string) bool { return len(name) >= len(p) && strings.EqualFold(name[:len(p)], p) }) {
		return true
	}
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	first := make([]byte, 8)
	n, _ := io.ReadFull(f, first)
	return slices.ContainsFunc(fragileBytes, func(p string) bool { return bytes.HasPrefix(first[:n], []byte(p)) })
}

// probe opens a file in another process, if its format needs that. An error is a crash.
func probe(name string, o Options) error {
	if !fragile(name) {
		return nil
	}
	program, err := os.Executable()
	if err != nil {
		return failure(ErrFormat, "open", name, "damaged files of this format end the process, and the program cannot be started again to test the file: %v", err)
	}
	text, err := json.Marshal(probed{name, o})
	if err != nil {
		return failure(ErrArgument, "open", name, "%v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program)
	cmd.Env = append(os.Environ(), probeVariable+"="+string(text))
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return failure(ErrFormat, "open", name, "GDAL does not come to an end with the file after %v: it is damaged", probeTime)
	case errors.As(err, &exit):
		return failure(ErrFormat, "open", name, "GDAL crashes on the file: it is damaged (another process that opened it ended with: %v)", exit)
	}
	return failure(ErrFormat, "open", name, "damaged files of this format end the process, and the program cannot be started again to test the file: %v", err)
}
