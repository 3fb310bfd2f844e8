package ir

// ThreadOp is a thread coordinate.
type ThreadOp uint8

// Thread coordinates.
const (
	ThreadIdxX ThreadOp = iota
	ThreadIdxY
	ThreadIdxZ
	BlockIdxX
	BlockIdxY
	BlockIdxZ
	BlockDimX
	BlockDimY
	BlockDimZ
	GridDimX
	GridDimY
	GridDimZ
	LaneID
	WarpID
)

var threadNames = [...]string{ThreadIdxX: "ThreadIdx.X", ThreadIdxY: "ThreadIdx.Y", ThreadIdxZ: "ThreadIdx.Z",
	BlockIdxX: "BlockIdx.X", BlockIdxY: "BlockIdx.Y", BlockIdxZ: "BlockIdx.Z",
	BlockDimX: "BlockDim.X", BlockDimY: "BlockDim.Y", BlockDimZ: "BlockDim.Z",
	GridDimX: "GridDim.X", GridDimY: "GridDim.Y", GridDimZ: "GridDim.Z", LaneID: "Lane", WarpID: "Warp"}

func (op ThreadOp) String() string { return name(threadNames[:], int(op)) }
