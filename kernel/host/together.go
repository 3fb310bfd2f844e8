package host

import (
	"runtime"
	"sync"
	"unsafe"

	"quern.dev/kernel"
)

// together is a launch whose blocks synchronize with each other. Each block of a
// cluster, or of the grid in a cooperative launch, runs on its own goroutine.
type together struct {
	cluster  kernel.Dim3
	clusters int
	across   kernel.Dim3 // clusters along X and Y
	grid     *barrier    // nil unless the launch is cooperative
	teams    []*team
}

// team is a group of goroutines that runs clusters one after another, with one
// goroutine per block.
type team struct {
	*together
	number  int
	barrier *barrier
	members []*Run // by rank

	mu     sync.Mutex
	plain  []*kernel.Blocks // what runs the members' blocks under Plain
	joined int              // number of members in plain
}

// member is a Run's place in a team.
type member struct {
	*team
	rank int
	next int // next cluster to run
}

func executeTogether(f Func, l *Launch, blocks int) *Failure {
	c := filled(l.Cluster)
	c.X = max(c.X, 1)
	t := &together{cluster: c, clusters: blocks / c.Count()}
	own := &launch{
		kernel: f, args: l.Args, grid: filled(l.Grid), block: filled(l.Block), output: l.Output,
		blocks: blocks, dynamic: l.DynamicShared, together: t,
	}
	t.across = kernel.Dim3{X: own.grid.X / c.X, Y: own.grid.Y / c.Y}
	teams := t.clusters
	if l.Cooperative {
		t.grid = newBarrier(blocks)
	} else {
		teams = min(teams, max(1, runtime.GOMAXPROCS(0)/c.Count()))
	}
	for i := range teams {
		team := &team{together: t, number: i, barrier: newBarrier(c.Count())}
		for rank := range c.Count() {
			r := workers.acquire()
			r.member = &member{team: team, rank: rank, next: i}
			team.members = append(team.members, r)
		}
		t.teams = append(t.teams, team)
	}
	l.Interrupt.begin(own)
	defer l.Interrupt.end(own)
	var group sync.WaitGroup
	for _, team := range t.teams {
		for _, r := range team.members {
			group.Go(func() { r.work(own) })
		}
	}
	group.Wait()
	for _, team := range t.teams {
		for _, r := range team.members {
			r.member = nil
		}
		workers.release(team.members)
	}
	return own.result()
}

// end ends all waits because the launch has failed.
func (t *together) end() {
	if t.grid != nil {
		t.grid.end()
	}
	for _, team := range t.teams {
		team.barrier.end()
	}
}

// nextTogether moves to the member's block in the team's next cluster. The team
// synchronizes before each cluster: shared memory of all blocks then exists, and
// no block of the previous cluster is still running.
func (r *Run) nextTogether() bool {
	m := r.member
	n := m.next
	m.next += len(m.teams)
	if n >= m.clusters {
		m.barrier.leave()
		if m.grid != nil {
			m.grid.leave()
		}
		return false
	}
	if !m.barrier.wait(true) {
		r.skip()
		return false
	}
	c, i := m.cluster, m.rank
	r.BlockIdx = kernel.Dim3{
		X: n%m.across.X*c.X + i%c.X,
		Y: n/m.across.X%m.across.Y*c.Y + i/c.X%c.Y,
		Z: n/(m.across.X*m.across.Y)*c.Z + i/(c.X*c.Y),
	}
	r.ThreadIdx = kernel.Dim3{}
	return true
}

// SyncGrid waits until all blocks of the grid have called it.
func (r *Run) SyncGrid() {
	if m := r.member; m != nil && !m.grid.wait(false) {
		m.stop(r, m.grid, "SyncGrid")
	}
}

// SyncCluster waits until all blocks of the cluster have called it.
func (r *Run) SyncCluster() {
	if m := r.member; m != nil && !m.barrier.wait(false) {
		m.stop(r, m.barrier, "SyncCluster")
	}
}

// stop ends a block whose barrier cannot complete.
func (m *member) stop(r *Run, at *barrier, name string) {
	r.CheckHalt()
	panic("waits in " + name + ", but another block has ended")
}

// ClusterShared returns the address, in the block with the given rank of the same
// cluster, that corresponds to p. p must point into the block's shared memory.
func ClusterShared[T any](r *Run, p *T, rank int) *T {
	m := r.member
	if m == nil || rank < 0 || rank >= len(m.members) {
		panic("ClusterShared: the rank is not in the cluster")
	}
	other := m.members[rank]
	for id, list := range r.shared {
		for _, s := range list {
			if at, ok := s.(memory).offset(unsafe.Pointer(p)); ok {
				return (*T)(unsafe.Add(s.(memory).counterpart(other.shared[id]), at))
			}
		}
	}
	start := unsafe.Pointer(unsafe.SliceData(r.dynamic))
	if at := uintptr(unsafe.Pointer(p)) - uintptr(start); at < uintptr(8*len(r.dynamic)) {
		return (*T)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(other.dynamic)), at))
	}
	panic("ClusterShared: the pointer does not point into shared memory")
}

// memory is a storage of any element type.
type memory interface {
	offset(p unsafe.Pointer) (n uintptr, ok bool)
	counterpart(list []any) unsafe.Pointer
}

// counterpart returns the start of the storage with the same type in a list.
func (s *storage[T]) counterpart(list []any) unsafe.Pointer {
	for _, candidate := range list {
		if found, ok := candidate.(*storage[T]); ok {
			return unsafe.Pointer(unsafe.SliceData(found.items))
		}
	}
	panic("ClusterShared: the other block does not have the variable")
}

// offset returns the offset of p within the storage.
func (s *storage[T]) offset(p unsafe.Pointer) (n uintptr, ok bool) {
	var item T
	n = uintptr(p) - uintptr(unsafe.Pointer(unsafe.SliceData(s.items)))
	return n, n < uintptr(len(s.items))*unsafe.Sizeof(item)
}

// barrier is a barrier for goroutines.
type barrier struct {
	mu      sync.Mutex
	all     sync.Cond
	members int
	arrived int
	between bool // the waiting members are between two blocks, not in a kernel
	left    bool // a member has left for good
	phase   int
	over    bool
}

func newBarrier(members int) *barrier {
	m := &barrier{members: members}
	m.all.L = &m.mu
	return m
}

// wait waits until all members have called it, and reports whether they have. It
// returns false if the launch fails, or if some members wait in the kernel and
// others between two blocks.
func (m *barrier) wait(between bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.arrived > 0 && m.between != between || m.left && !between {
		m.over = true
		m.all.Broadcast()
	}
	if m.over {
		return false
	}
	m.between = between
	m.arrived++
	if m.arrived == m.members {
		m.arrived = 0
		m.phase++
		m.all.Broadcast()
		return true
	}
	phase := m.phase
	for m.phase == phase && !m.over {
		m.all.Wait()
	}
	return m.phase != phase
}

// leave records that a member has left for good.
func (m *barrier) leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left = true
	if m.arrived > 0 {
		m.over = true
		m.all.Broadcast()
	}
}

// end ends all waits.
func (m *barrier) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.over = true
	m.all.Broadcast()
}
