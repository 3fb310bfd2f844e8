package host

import (
	"runtime"
	"sync"
	"unsafe"

	"quern.dev/kernel"
)

// together is a launch whose blocks wait for each other: each block of a
// cluster, and in a cooperative launch each of the grid, runs on a goroutine.
type together struct {
	cluster  kernel.Dim3
	clusters int
	across   kernel.Dim3 // clusters along X and Y
	grid     *meeting    // nil unless the launch is cooperative
	teams    []*team
}

// team is goroutines that run one cluster after the other, a block each.
type team struct {
	*together
	number  int
	meeting *meeting
	members []*Run // by rank

	mu     sync.Mutex
	plain  []*kernel.Blocks // what runs the members' blocks, if they are run by Plain
	joined int              // how many of these there are
}

// member is a Run's place in a team.
type member struct {
	*team
	rank int
	next int // cluster to run
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
		t.grid = newMeeting(blocks)
	} else {
		teams = min(teams, max(1, runtime.GOMAXPROCS(0)/c.Count()))
	}
	for i := range teams {
		team := &team{together: t, number: i, meeting: newMeeting(c.Count())}
		for rank := range c.Count() {
			r := workers.borrow()
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
		workers.keep(team.members)
	}
	return own.result()
}

// end ends all waits, because the launch has failed.
func (t *together) end() {
	if t.grid != nil {
		t.grid.end()
	}
	for _, team := range t.teams {
		team.meeting.end()
	}
}

// nextTogether moves to the member's block of the team's next cluster. The team
// meets before each, so that its shared memory is all there and no block of the
// last cluster is still at work.
func (r *Run) nextTogether() bool {
	m := r.member
	n := m.next
	m.next += len(m.teams)
	if n >= m.clusters {
		m.meeting.leave()
		if m.grid != nil {
			m.grid.leave()
		}
		return false
	}
	if !m.meeting.wait(true) {
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

// SyncGrid waits for all blocks of the grid.
func (r *Run) SyncGrid() {
	if m := r.member; m != nil && !m.grid.wait(false) {
		m.stop(r, m.grid, "SyncGrid")
	}
}

// SyncCluster waits for all blocks of the cluster.
func (r *Run) SyncCluster() {
	if m := r.member; m != nil && !m.meeting.wait(false) {
		m.stop(r, m.meeting, "SyncCluster")
	}
}

// stop ends a block that waits in vain.
func (m *member) stop(r *Run, at *meeting, name string) {
	if r.Halted() {
		r.Halt()
	}
	panic("waits in " + name + ", but another block has ended")
}

// ClusterShared returns a pointer to what p, a pointer into the block's shared
// memory, points to in the block of the cluster with the given rank.
func ClusterShared[T any](r *Run, p *T, rank int) *T {
	m := r.member
	if m == nil || rank < 0 || rank >= len(m.members) {
		panic("ClusterShared of a block that is not in the cluster")
	}
	other := m.members[rank]
	for id, list := range r.shared {
		for _, s := range list {
			if at, ok := s.(memory).offset(unsafe.Pointer(p)); ok {
				return (*T)(unsafe.Add(s.(memory).twin(other.shared[id]), at))
			}
		}
	}
	start := unsafe.Pointer(unsafe.SliceData(r.dynamic))
	if at := uintptr(unsafe.Pointer(p)) - uintptr(start); at < uintptr(8*len(r.dynamic)) {
		return (*T)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(other.dynamic)), at))
	}
	panic("ClusterShared of a pointer that is not into shared memory")
}

// memory is a storage of any type.
type memory interface {
	offset(p unsafe.Pointer) (n uintptr, ok bool)
	twin(list []any) unsafe.Pointer
}

// twin returns the start of the storage of the same type in a list.
func (s *storage[T]) twin(list []any) unsafe.Pointer {
	for _, candidate := range list {
		if found, ok := candidate.(*storage[T]); ok {
			return unsafe.Pointer(unsafe.SliceData(found.items))
		}
	}
	panic("ClusterShared of a variable that the other block has not")
}

// offset returns where in the storage p points.
func (s *storage[T]) offset(p unsafe.Pointer) (n uintptr, ok bool) {
	var item T
	n = uintptr(p) - uintptr(unsafe.Pointer(unsafe.SliceData(s.items)))
	return n, n < uintptr(len(s.items))*unsafe.Sizeof(item)
}

// meeting is a barrier of goroutines.
type meeting struct {
	mu      sync.Mutex
	all     sync.Cond
	members int
	arrived int
	between bool // those that have arrived wait between two blocks, not in a kernel
	left    bool // a member does not come any more
	phase   int
	over    bool
}

func newMeeting(members int) *meeting {
	m := &meeting{members: members}
	m.all.L = &m.mu
	return m
}

// wait waits until all members have called it, and reports whether they have: it
// ends with false when the launch fails, or when some wait in the kernel and
// others between two blocks.
func (m *meeting) wait(between bool) bool {
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

// leave notes that a member does not come any more.
func (m *meeting) leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left = true
	if m.arrived > 0 {
		m.over = true
		m.all.Broadcast()
	}
}

// end ends all waits.
func (m *meeting) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.over = true
	m.all.Broadcast()
}
