package driver

import "unsafe"

// GraphKind is what a node of a graph does.
type GraphKind uint8

// Kinds of nodes.
const (
	GraphEmpty  GraphKind = iota // nothing: a point that others come after
	GraphLaunch                  // Function with Frame
	GraphCopy                    // Size bytes from Src to Dst
	GraphBox                     // Box, within the device
	GraphWrite                   // Data to Dst
	GraphFill                    // the pattern Data, Count times, to Dst
	GraphIn                      // Size bytes from Host, which is page-locked, to Dst
	GraphOut                     // Size bytes from Src to Host, which is page-locked
	GraphCall                    // Call on the host
	GraphBody                    // Body, once
	GraphIf                      // Body if Cond is not zero
	GraphWhile                   // Body while Cond is not zero
)

var graphKindNames = [...]string{
	"empty", "kernel", "copy", "copy box", "write", "fill", "copy in", "copy out", "call", "graph", "if", "while",
}

func (k GraphKind) String() string { return graphKindNames[k] }

// GraphNode is one operation of a graph.
type GraphNode struct {
	Kind GraphKind
	// After are the numbers of the nodes in the same list, all of them smaller
	// than the node's own, that are done before this one begins.
	After []int

	Function Function
	Frame    *Frame // the node's own

	Dst, Src Memory
	Host     unsafe.Pointer
	Size     int64
	Box      *BoxCopy
	Data     []byte
	Count    int64
	Call     func() error
	Body     []GraphNode
	Cond     Memory // of 4 bytes, aligned
}

// Graphs is implemented by devices that run graphs.
type Graphs interface {
	// NewGraphExec makes a graph of the nodes ready to run. It keeps them. The
	// errors of calls go to failed.
	NewGraphExec(nodes []GraphNode, failed func(error)) (GraphExec, error)
}

// GraphExec is a graph that is ready to run.
type GraphExec interface {
	// Launch runs the graph in the order of the stream. Runs of one graph follow
	// each other, whatever their streams are. What stops a kernel is a fault of
	// the stream.
	Launch(s Stream) error
	// Update replaces nodes by others of the same kind; those of runs that were
	// asked for before are not changed. After an error the graph is as it was.
	Update(changes map[int]GraphNode) error
	// Wait waits for the runs.
	Wait() error
	// Close waits for the runs too.
	Close() error
}
