package monitor

import (
	"bytes"
	"os"
	"os/user"
	"strconv"
	"strings"
	"syscall"
)

// initialNamespace is the PID namespace of the host (PROC_PID_INIT_INO of Linux).
const initialNamespace = "pid:[4026531836]"

// foreignPIDs reports whether process numbers of the host mean something else here.
func foreignPIDs() bool {
	namespace, err := os.Readlink("/proc/self/ns/pid")
	return err != nil || namespace != initialNamespace
}

// longestCommand is how much of a command line is kept, in bytes.
const longestCommand = 512

// processNames looks up the names of processes.
type processNames struct{ users map[uint32]string }

// fill sets the names of processes. Those of processes that have ended stay empty.
func (n *processNames) fill(gpus []GPU) {
	for i := range gpus {
		for k := range gpus[i].Processes {
			n.lookUp(&gpus[i].Processes[k])
		}
	}
}

func (n *processNames) lookUp(p *Process) {
	dir := "/proc/" + strconv.Itoa(p.PID)
	name, err := os.ReadFile(dir + "/comm")
	if err != nil {
		return
	}
	p.Name = printable(strings.TrimSpace(string(name)))
	if line, err := os.ReadFile(dir + "/cmdline"); err == nil {
		line = bytes.TrimRight(line[:min(len(line), longestCommand)], "\x00")
		p.Command = printable(string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
	}
	if info, err := os.Stat(dir); err == nil {
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			p.User = n.user(stat.Uid)
		}
	}
}

func (n *processNames) user(id uint32) string {
	if name, ok := n.users[id]; ok {
		return name
	}
	name := strconv.FormatUint(uint64(id), 10)
	if u, err := user.LookupId(name); err == nil {
		name = u.Username
	}
	if n.users == nil {
		n.users = map[uint32]string{}
	}
	n.users[id] = name
	return name
}
