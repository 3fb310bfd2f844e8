package ptxvm

// MaxTogether is the largest number of blocks that can take turns.
const MaxTogether = 1 << 10

// cluster is a set of blocks that take turns and can access each other's shared memory. In
// a cooperative launch of a kernel without clusters, every block is a cluster of one.
type cluster struct {
	members []*block // by rank
	phase   uint32   // number of barriers that all threads have passed
	arrived int      // threads that have arrived at the next barrier
}

// together runs the blocks of each cluster, or of the whole grid in a cooperative launch.
// The blocks take turns on one worker.
func (l *launch) together() error {
	grid := l.config.Grid
	extent := l.entry.Cluster
	for i := range extent {
		extent[i] = max(extent[i], 1)
	}
	size := extent[0] * extent[1] * extent[2]
	clusters := int(l.blocks) / size
	batch := 1
	if l.config.Cooperative {
		batch = clusters
	}
	machines := make([]*block, batch*size)
	for i := range machines {
		m := l.entry.machine()
		m.prepare(l)
		machines[i] = m
		if i%size == 0 {
			m.cluster = &cluster{members: machines[i : i+size]}
		} else {
			m.cluster = machines[i-1].cluster
		}
		if i > 0 {
			m.clock = machines[0].clock
		}
	}
	defer func() {
		for i, m := range machines {
			if i > 0 {
				m.clock = &clock{now: m.now}
			}
			m.cluster = nil
			m.release()
		}
	}()
	across := [2]int{grid[0] / extent[0], grid[1] / extent[1]} // clusters along X and Y
	for done := 0; done < clusters; done += batch {
		for i, m := range machines {
			c, rank := done+i/size, i%size
			x := c%across[0]*extent[0] + rank%extent[0]
			y := c/across[0]%across[1]*extent[1] + rank/extent[0]%extent[1]
			z := c/(across[0]*across[1])*extent[2] + rank/(extent[0]*extent[1])
			m.cluster.phase, m.cluster.arrived = 0, 0
			m.start(uint64(x + grid[0]*(y+grid[1]*z)))
		}
		if err := takeTurns(machines); err != nil {
			return err
		}
	}
	return nil
}

// takeTurns runs blocks to completion.
func takeTurns(blocks []*block) error {
	for {
		var live *block
		progress := false
		for _, b := range blocks {
			if b.live == 0 {
				continue
			}
			if b.checks {
				b.beginTurn()
			}
			live = b
			progress = b.turn() || progress
			if b.err != nil {
				return b.err
			}
		}
		if live == nil {
			return nil
		}
		if !progress && live.live > 0 {
			live.deadlock()
			return live.err
		}
	}
}

// turn runs the block until it depends on other blocks, or may. It reports whether any
// thread ran.
func (b *block) turn() bool {
	ran := false
	for b.live > 0 {
		progress, pauses := b.pass()
		if b.err != nil {
			return true
		}
		ran = ran || progress
		if pauses || !progress && !b.merge() {
			break
		}
	}
	return ran
}

// pause gives the other blocks a turn, after an access that may be part of a wait for
// them.
func (t *thread) pause() {
	if t.b.cluster != nil {
		t.state = paused
	}
}

// clusterBarrier decodes barrier.cluster.
func (d *decoder) clusterBarrier() {
	op := d.mod("arrive", "wait")
	d.drop("release", "relaxed", "acquire", "aligned")
	d.want(0, 0)
	switch op {
	case "arrive":
		d.emit(func(t *thread, _ *instr) {
			if c := t.b.cluster; c != nil {
				t.phase = c.phase
				c.arrived++
				c.complete()
			}
		})
	case "wait":
		d.emit(func(t *thread, _ *instr) {
			if c := t.b.cluster; c != nil && c.phase == t.phase {
				t.state = clustered
			}
		})
	default:
		d.emit(nil)
	}
}

// complete ends the phase if all threads of the cluster that have not exited have arrived.
func (c *cluster) complete() {
	live := 0
	for _, b := range c.members {
		live += b.live
	}
	if c.arrived == 0 || c.arrived < live {
		return
	}
	c.phase++
	c.arrived = 0
	var acquired uint32
	for _, b := range c.members {
		for i := range b.threads {
			t := &b.threads[i]
			acquired = max(acquired, t.acquired)
			if t.state == clustered {
				t.state = ready
			}
		}
	}
	first := c.members[0]
	if !first.checks {
		return
	}
	first.now++
	for _, b := range c.members {
		b.barrier, b.clusterAt = first.now, first.now
		for i := range b.threads {
			b.threads[i].acquired = acquired
		}
	}
}

// clusterPrecedes reports whether a block of the cluster made an access before the
// cluster's last barrier.
func (b *block) clusterPrecedes(at uint32) bool {
	if at >= b.clusterAt {
		return false
	}
	owner := b.owner(at)
	for _, m := range b.cluster.members {
		if m.linear == owner {
			return true
		}
	}
	return false
}

// rankShift is the position in a generic shared address of a block's rank in the cluster
// plus one. Zero means the thread's own block.
const rankShift = 40

// decodeMapAddress decodes mapa with generic addresses.
func decodeMapAddress(d *decoder) {
	if t := d.typ(); t != u64 {
		d.p.fail("%s: want type .u64", d.text)
	}
	d.want(3, 3)
	d.in.d = d.destination(0, u64)
	d.in.a = d.source(1, u64)
	d.in.b = d.source(2, u32)
	d.emit(func(t *thread, in *instr) {
		address, rank := t.regs[in.a], uint64(uint32(t.regs[in.b]))
		size := uint64(1)
		if c := t.b.cluster; c != nil {
			size = uint64(len(c.members))
		}
		switch {
		case address>>windowShift != sharedWindow>>windowShift:
			t.fault(IllegalOperand, in, address, "the address is not in shared memory")
		case rank >= size:
			t.fault(IllegalOperand, in, address, "block %d: the cluster has %d blocks", rank, size)
		default:
			t.regs[in.d] = sharedWindow | (rank+1)<<rankShift | address&(1<<rankShift-1)
		}
	})
}

// peer returns the block that an offset with a rank refers to, and the offset in its
// shared memory.
func (t *thread) peer(in *instr, off uint64) (*block, uint64) {
	rank, within := off>>rankShift-1, off&(1<<rankShift-1)
	if t.b.cluster == nil {
		return t.b, within
	}
	b := t.b.cluster.members[rank]
	if b.live == 0 {
		t.fault(OutOfBounds, in, within, "shared memory of block %v, which has ended; is a t.SyncCluster() missing?", b.index)
		return nil, 0
	}
	return b, within
}
