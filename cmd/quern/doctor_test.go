package main

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quern.dev/gpu"
)

// examined describes a machine for a test.
type examined struct {
	os      string
	devices []gpu.DeviceInfo
	paths   []string          // programs on PATH
	files   []string          // device files and marks of containers
	closed  []string          // of those, the ones that cannot be opened
	env     map[string]string // environment
}

func (e examined) machine() machine {
	return machine{
		os: e.os, arch: "amd64", devices: e.devices,
		lookPath: func(name string) (string, error) {
			if slices.Contains(e.paths, name) {
				return "/usr/bin/" + name, nil
			}
			return "", fs.ErrNotExist
		},
		glob: func(pattern string) (found []string, err error) {
			prefix, _, _ := strings.Cut(pattern, "[")
			prefix = strings.TrimSuffix(prefix, "*")
			for _, f := range e.files {
				rest, ok := strings.CutPrefix(f, prefix)
				if ok && (!strings.Contains(pattern, "[0-9]") || rest != "" && rest[0] >= '0' && rest[0] <= '9') {
					found = append(found, f)
				}
			}
			return found, nil
		},
		readable: func(name string) bool { return !slices.Contains(e.closed, name) },
		getenv:   func(name string) string { return e.env[name] },
	}
}

func noCUDA(reason string) []gpu.DeviceInfo {
	return []gpu.DeviceInfo{
		{ID: "cuda", Backend: gpu.CUDA, Err: errors.New(reason)},
		{ID: "cpu", Backend: gpu.CPU, Name: "AMD EPYC"},
	}
}

const (
	noLibrary = "the NVIDIA driver library was not found: libcuda.so.1: cannot open shared object file: No such file or directory"
	goLine    = "ok       go command: /usr/bin/go (compiles programs; quern gen uses it)\n"
	cpuLine   = "ok       cpu: AMD EPYC\n"
	noPTXAS   = "note     ptxas: not on PATH (optional)\n         -> tests use it to assemble every kernel: pip install nvidia-cuda-nvcc, then set PTXAS to the ptxas inside\n"
	onlyCPU   = "\nKernels run on the CPU of this machine, which needs no further setup.\n"
)

func TestDoctor(t *testing.T) {
	tests := []struct {
		name  string
		on    examined
		works bool
		want  string
	}{
		{
			name: "no driver",
			on:   examined{os: "linux", devices: noCUDA(noLibrary), paths: []string{"go"}},
			want: goLine + "MISSING  cuda: " + noLibrary + "\n" +
				"         -> if the machine has an NVIDIA GPU, install its driver (Debian and Ubuntu: nvidia-driver and libcuda1); no CUDA toolkit is needed\n" +
				cpuLine + noPTXAS + onlyCPU,
		},
		{
			name: "a driver that is too old",
			on: examined{
				os: "linux", paths: []string{"go"}, files: []string{"/dev/nvidia0", "/dev/nvidiactl"},
				devices: noCUDA("the NVIDIA driver is too old: it supports CUDA 10.1, needed is 11.0 or later (driver 450)"),
			},
			want: goLine + "MISSING  cuda: the NVIDIA driver is too old: it supports CUDA 10.1, needed is 11.0 or later (driver 450)\n" +
				"         -> update the NVIDIA driver; no CUDA toolkit is needed\n" +
				cpuLine + noPTXAS + onlyCPU,
		},
		{
			name: "no permission",
			on: examined{
				os: "linux", paths: []string{"go"}, files: []string{"/dev/nvidia0", "/dev/nvidiactl"}, closed: []string{"/dev/nvidia0"},
				devices: noCUDA("no permission to open /dev/nvidiactl (cuInit: no device)"),
			},
			want: goLine + "MISSING  cuda: no permission to open /dev/nvidiactl (cuInit: no device)\n" +
				"         -> add the user to the group that owns the device file (often video or render), or change its permissions\n" +
				cpuLine +
				"MISSING  /dev/nvidia0: no permission to open it\n" +
				"         -> add the user to the group that owns the device file (often video or render), or change its permissions\n" +
				noPTXAS + onlyCPU,
		},
		{
			name: "a container without GPU",
			on:   examined{os: "linux", devices: noCUDA(noLibrary), paths: []string{"go"}, files: []string{"/.dockerenv"}},
			want: goLine + "MISSING  cuda: " + noLibrary + "\n" +
				"         -> this is a container; start it with GPU access (docker run --gpus all, with the NVIDIA Container Toolkit on the host)\n" +
				cpuLine + noPTXAS + onlyCPU,
		},
		{
			name: "device files without a library",
			on:   examined{os: "linux", devices: noCUDA(noLibrary), paths: []string{"go"}, files: []string{"/dev/nvidia0"}},
			want: goLine + "MISSING  cuda: " + noLibrary + "\n" +
				"         -> the GPU's device files exist, but the driver library does not work: reinstall the driver (Debian and Ubuntu: libcuda1)\n" +
				cpuLine + noPTXAS + onlyCPU,
		},
		{
			name: "kernel modules that are not loaded",
			on:   examined{os: "linux", devices: noCUDA("cuInit: no device"), paths: []string{"go", "nvidia-smi"}},
			want: goLine + "MISSING  cuda: cuInit: no device\n" +
				"         -> nvidia-smi is installed, but there are no device files: load the kernel modules (modprobe nvidia nvidia_uvm)\n" +
				cpuLine + noPTXAS + onlyCPU,
		},
		{
			name:  "a GPU that works, beside one that does not",
			works: true,
			on: examined{os: "linux", paths: []string{"go", "ptxas"}, devices: []gpu.DeviceInfo{
				{ID: "cuda:0", Backend: gpu.CUDA, Name: "NVIDIA H200", DriverVersion: "13.0", ComputeMajor: 9},
				{ID: "cuda:1", Backend: gpu.CUDA, Err: errors.New(`the device is in compute mode "prohibited"`)},
				{ID: "cpu", Backend: gpu.CPU, Name: "AMD EPYC"},
			}},
			want: goLine + "ok       cuda:0: NVIDIA H200, compute capability 9.0, driver for CUDA 13.0\n" +
				"MISSING  cuda:1: the device is in compute mode \"prohibited\"\n" +
				"         -> as administrator, allow programs to use the GPU: nvidia-smi -c DEFAULT\n" +
				cpuLine + "ok       ptxas: /usr/bin/ptxas (optional; tests use it to assemble every kernel)\n" +
				"\nKernels run on cuda:0 (NVIDIA H200).\n",
		},
		{
			name:  "an environment that hides GPUs",
			works: true,
			on: examined{
				os: "linux", paths: []string{"go"}, env: map[string]string{gpu.DeviceVariable: "cpu", "CUDA_VISIBLE_DEVICES": "3"},
				devices: []gpu.DeviceInfo{{ID: "cuda:0", Backend: gpu.CUDA, Name: "NVIDIA L4", DriverVersion: "12.4", ComputeMajor: 8, ComputeMinor: 9}},
			},
			want: goLine + "ok       cuda:0: NVIDIA L4, compute capability 8.9, driver for CUDA 12.4\n" +
				"note     QUERN_DEVICE=cpu is set\n" +
				"         -> programs open only this device; unset the variable to let them choose\n" +
				"note     CUDA_VISIBLE_DEVICES=3 is set\n" +
				"         -> the driver shows only these GPUs\n" +
				noPTXAS + "\nKernels run on cuda:0 (NVIDIA L4).\n",
		},
		{
			name: "macOS",
			on:   examined{os: "darwin", devices: noCUDA("CUDA is not available for darwin")},
			want: "note     go command: not on PATH\n" +
				"         -> install Go 1.26 or later to run quern gen; programs do not need it\n" +
				"MISSING  NVIDIA driver: none exists for macOS\n" +
				"         -> run on Linux or Windows to use an NVIDIA GPU\n" +
				cpuLine + noPTXAS + onlyCPU,
		},
		{
			name: "Windows without a driver",
			on:   examined{os: "windows", paths: []string{"go"}, devices: noCUDA("the NVIDIA driver library nvcuda.dll is not there")},
			want: goLine + "MISSING  cuda: the NVIDIA driver library nvcuda.dll is not there\n" +
				"         -> if the machine has an NVIDIA GPU, install its driver; no CUDA toolkit is needed\n" +
				cpuLine + noPTXAS + onlyCPU,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			err := doctor(&b, tt.on.machine())
			if works := err == nil; works != tt.works {
				t.Errorf("doctor returns %v", err)
			}
			if diff := cmp.Diff(tt.want, b.String()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
