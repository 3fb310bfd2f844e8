package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"quern.dev/gpu"
)

func doctorCommand() *cobra.Command {
	full := false
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find out why a GPU is not used, and how to fix it",
		Long: `doctor checks what Quern uses: the Go toolchain, the NVIDIA driver and its device
files, and optional tools. For each it prints its purpose, what is wrong, and how
to fix it. It exits with 1 if kernels cannot run on a GPU of this machine. The
CPU and the simulator need no setup.

With --full it also assesses the hardware, and says what to change: the GPUs' PCIe
link as negotiated under load, ECC, power limit and clocks, and of the machine
NUMA, huge pages, the limit of locked memory and the CPU's governor.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := doctor(cmd.OutOrStdout(), machine{
				os: runtime.GOOS, arch: runtime.GOARCH,
				devices:  gpu.Devices(),
				lookPath: exec.LookPath,
				glob:     filepath.Glob,
				readable: func(name string) bool {
					f, err := os.OpenFile(name, os.O_RDWR, 0)
					if err == nil {
						f.Close()
					}
					return err == nil
				},
				getenv: os.Getenv,
			})
			if full {
				err = errors.Join(err, assess(cmd.Context(), cmd.OutOrStdout()))
			}
			if errors.Is(err, errFound) {
				return errFound
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&full, "full", false, "also assess the hardware")
	return cmd
}

// machine is what doctor examines. Tests create their own.
type machine struct {
	os, arch string
	devices  []gpu.DeviceInfo
	lookPath func(string) (string, error)
	glob     func(string) ([]string, error)
	readable func(string) bool
	getenv   func(string) string
}

// finding is one line of the report.
type finding struct {
	ok     bool
	needed bool // required for using a GPU
	what   string
	advice string
}

func doctor(w io.Writer, m machine) error {
	findings, usable := m.examine()
	printFindings(w, findings)
	if usable == "" {
		fmt.Fprintln(w, "\nKernels run on the CPU of this machine, which needs no further setup.")
		return errFound
	}
	fmt.Fprintf(w, "\nKernels run on %s.\n", usable)
	return nil
}

func printFindings(w io.Writer, findings []finding) {
	for _, f := range findings {
		mark := "ok     "
		switch {
		case !f.ok && f.needed:
			mark = "MISSING"
		case !f.ok:
			mark = "note   "
		}
		fmt.Fprintf(w, "%s  %s\n", mark, f.what)
		if f.advice != "" {
			fmt.Fprintf(w, "         -> %s\n", f.advice)
		}
	}
}

// examine returns all findings, and the first usable GPU or "".
func (m machine) examine() (findings []finding, usable string) {
	add := func(f finding) { findings = append(findings, f) }

	if path, err := m.lookPath("go"); err == nil {
		add(finding{ok: true, what: "go command: " + path + " (compiles programs; quern gen uses it)"})
	} else {
		add(finding{what: "go command: not on PATH", advice: "install Go 1.26 or later to run quern gen; programs do not need it"})
	}

	if m.os == "darwin" {
		add(finding{needed: true, what: "NVIDIA driver: none exists for macOS", advice: "run on Linux or Windows to use an NVIDIA GPU"})
	}
	for _, d := range m.devices {
		switch {
		case d.Backend == gpu.CUDA && d.Err == nil:
			add(finding{ok: true, needed: true, what: fmt.Sprintf("%s: %s, compute capability %d.%d, driver for CUDA %s", d.ID, d.Name, d.ComputeMajor, d.ComputeMinor, d.DriverVersion)})
			if usable == "" {
				usable = d.ID + " (" + d.Name + ")"
			}
		case d.Backend == gpu.CUDA && m.os != "darwin":
			add(finding{needed: true, what: fmt.Sprintf("%s: %v", d.ID, d.Err), advice: m.advice(d.Err.Error())})
		case d.Backend == gpu.CPU && d.Err == nil:
			add(finding{ok: true, what: d.ID + ": " + d.Name})
		}
	}
	for _, node := range m.closedNodes() {
		add(finding{needed: true, what: node + ": no permission to open it", advice: openAdvice})
	}
	if v := m.getenv(gpu.DeviceVariable); v != "" {
		add(finding{what: gpu.DeviceVariable + "=" + v + " is set", advice: "programs open only this device; unset the variable to let them choose"})
	}
	if v := m.getenv("CUDA_VISIBLE_DEVICES"); v != "" {
		add(finding{what: "CUDA_VISIBLE_DEVICES=" + v + " is set", advice: "the driver shows only these GPUs"})
	}
	if path, err := m.lookPath("ptxas"); err == nil {
		add(finding{ok: true, what: "ptxas: " + path + " (optional; tests use it to assemble every kernel)"})
	} else {
		add(finding{what: "ptxas: not on PATH (optional)", advice: "tests use it to assemble every kernel: pip install nvidia-cuda-nvcc, then set PTXAS to the ptxas inside"})
	}
	return findings, usable
}

const openAdvice = "add the user to the group that owns the device file (often video or render), or change its permissions"

// closedNodes returns the device files of GPUs that this process cannot open.
func (m machine) closedNodes() (closed []string) {
	if m.os != "linux" {
		return nil
	}
	nodes, _ := m.glob("/dev/nvidia[0-9]*")
	for _, node := range nodes {
		if !m.readable(node) {
			closed = append(closed, node)
		}
	}
	return closed
}

// advice returns what to do about a GPU that is unusable for the given reason.
func (m machine) advice(reason string) string {
	for _, known := range []struct{ text, advice string }{
		{"too old", "update the NVIDIA driver; no CUDA toolkit is needed"},
		{"compute mode", "as administrator, allow programs to use the GPU: nvidia-smi -c DEFAULT"},
		{"compute capability", "this GPU is too old for Quern; use a newer one"},
		{"no permission", openAdvice},
	} {
		if strings.Contains(reason, known.text) {
			return known.advice
		}
	}
	if m.os == "windows" {
		return "if the machine has an NVIDIA GPU, install its driver; no CUDA toolkit is needed"
	}
	nodes, _ := m.glob("/dev/nvidia*")
	container, _ := m.glob("/.dockerenv")
	podman, _ := m.glob("/run/.containerenv")
	_, smi := m.lookPath("nvidia-smi")
	switch {
	case len(m.closedNodes()) > 0:
		return "see the device file below"
	case len(container)+len(podman) > 0:
		return "this is a container; start it with GPU access (docker run --gpus all, with the NVIDIA Container Toolkit on the host)"
	case len(nodes) > 0:
		return "the GPU's device files exist, but the driver library does not work: reinstall the driver (Debian and Ubuntu: libcuda1)"
	case smi == nil:
		return "nvidia-smi is installed, but there are no device files: load the kernel modules (modprobe nvidia nvidia_uvm)"
	}
	return "if the machine has an NVIDIA GPU, install its driver (Debian and Ubuntu: nvidia-driver and libcuda1); no CUDA toolkit is needed"
}
