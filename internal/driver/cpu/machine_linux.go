package cpu

import (
	"bufio"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// memory returns the available and the total memory of the machine in bytes.
func memory() (free, total int64) {
	fields := procFields("/proc/meminfo", "MemAvailable", "MemTotal")
	return kibibytes(fields["MemAvailable"]), kibibytes(fields["MemTotal"])
}

// kibibytes parses a size such as "1024 kB".
func kibibytes(s string) int64 {
	n, err := strconv.ParseInt(strings.TrimSuffix(s, " kB"), 10, 64)
	if err != nil {
		return 0
	}
	return n << 10
}

// modelName returns the model name of the processor.
func modelName() string {
	if name := procFields("/proc/cpuinfo", "model name")["model name"]; name != "" {
		return name
	}
	return runtime.GOARCH
}

// procFields returns the first values of the given keys in a file whose lines have the
// form "key : value".
func procFields(file string, keys ...string) map[string]string {
	found := make(map[string]string, len(keys))
	f, err := os.Open(file)
	if err != nil {
		return found
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan() && len(found) < len(keys); {
		key, value, _ := strings.Cut(lines.Text(), ":")
		key = strings.TrimSpace(key)
		for _, want := range keys {
			if _, ok := found[key]; key == want && !ok {
				found[key] = strings.TrimSpace(value)
			}
		}
	}
	return found
}
