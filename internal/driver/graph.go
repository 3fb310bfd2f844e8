package driver

import "unsafe"

// GraphKind is the operation of a graph node.
type GraphKind uint8

// Kinds of nodes.
const (
	GraphEmpty  GraphKind = iota // nothing: a point that other nodes depend on
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
	// After lists the nodes that complete before this one begins. They are in the same
	// list and have smaller numbers.
	After []int

	Function Function
	Frame    *Frame // owned by the node

	Dst, Src Memory
	Host     unsafe.Pointer
	Size     int64
	Box      *BoxCopy
	Data     []byte
	Count    int64
	Call     func() error
	Body     []GraphNode
	Cond     Memory // 4 bytes, aligned
}

// Graphs is implemented by devices that run graphs.
type Graphs interface {
	// NewGraphExec creates an executable graph from the nodes, which it keeps. Errors
	// of host calls go to failed.
	NewGraphExec(nodes []GraphNode, failed func(error)) (GraphExec, error)
}

// GraphExec is an executable graph.
type GraphExec interface {
	// Launch runs the graph in stream order. Runs of one graph follow each other, also
	// on different streams. A kernel that stops is a fault of the stream.
	Launch(s Stream) error
	// Update replaces nodes with others of the same kind. Runs launched earlier are not
	// affected. After an error the graph is unchanged.
	Update(changes map[int]GraphNode) error
	// Wait waits for all runs.
	Wait() error
	// Close waits for all runs and releases the graph.
	Close() error
}
