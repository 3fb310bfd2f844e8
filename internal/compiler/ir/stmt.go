package ir

// Stmt is a statement. Control flow is structured: the only jumps are Break and
// Continue to an enclosing Block or Loop.
type Stmt interface {
	node
	copyStmt() Stmt
}

// Assign evaluates Src, then stores it to Dst.
type Assign struct {
	Dst Place
	Src Expr
	Pos Pos
}

// If runs Then or Else.
type If struct {
	Cond       Expr
	Then, Else []Stmt
	Pos        Pos
}

// Loop repeats: Pre; leave unless Cond (nil means true); Body; Post. Continue goes to
// Post, Break to the end of the loop. Pre computes what the condition needs.
type Loop struct {
	Label *Label
	Pre   []Stmt
	Cond  Expr
	Body  []Stmt
	Post  []Stmt
	Pos   Pos

	Unroll Unroll

	// Long: it may run long, or not end. In each iteration, the Go form checks whether
	// its launch was cancelled.
	Long bool
}

// Block is a statement list that Break can leave.
type Block struct {
	Label *Label
	Body  []Stmt
}

// Break leaves the enclosing Loop or Block with the given label.
type Break struct{ Label *Label }

// Continue goes to Post of the enclosing Loop with the given label.
type Continue struct{ Label *Label }

// Return leaves the function. In a kernel it ends the thread.
type Return struct {
	Results []Expr
	Pos     Pos
}

// Call calls a function; a nil destination drops the result. Thread parameters are not
// passed: every function can access its thread.
type Call struct {
	Dst  []*Local
	Func *Func
	Args []Expr
	Pos  Pos
}

// Barrier waits for all threads of the block, its cluster or the grid.
type Barrier struct {
	Of  Reach
	Pos Pos
}

// Fence orders the thread's memory accesses with respect to the threads of the scope.
type Fence struct {
	Scope Scope
	Pos   Pos
}

// Panic stops the thread with a constant reason.
type Panic struct {
	Reason string
	Pos    Pos
}

// Check performs the checks on the way to a place and nothing else.
type Check struct{ Place Place }

// Label identifies a Loop or Block; the name is for readability.
type Label struct{ Name string }
