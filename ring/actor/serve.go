package actor

import "quern.dev/kernel"

// loads is the number of words that a thread asks for before it looks at the
// first: each takes a trip over the bus.
const loads = 24

// looks is the number of looks at an empty inbox between readings of the timer,
// which is slow.
const looks = 16

// Status is what the threads of a block tell each other. There are two of each,
// used in turn: a thread may still read the one while another is ahead.
type Status struct {
	Fresh    [2]uint32 // messages that have arrived, by look
	Leave    [2]uint32 // why the loop leaves, 0 if it does not, by look
	Higher   [2]uint32 // one more than the highest level above with a message, by look
	Lower    [2]uint32 // one more than the highest level below with a message, by look
	Finished [2]uint32 // threads that have returned from the handler, by message, so far
	Outcome  [2]uint32 // by message
	Cycles   [2]uint32 // by message
}

// Serve is the loop of one actor, run by a block: actor number t.BlockIdx.X of
// the launch. A message of the middle level is seen in one look, one of another
// after that level's in two. Its dynamic shared memory has Shape.Batch cells.
func Serve[State, In, Out any](t kernel.Thread, s Shape, control []uint64, cursors []uint32, states []State, inbox, outbox []uint64,
	handle func(kernel.Thread, *State, *In, *Out) kernel.Action) {
	cells := kernel.Dynamic[Cell[In, Out]](t)
	words := kernel.Dynamic[uint32](t)
	sh := kernel.Shared[Status](t)

	me, first := t.BlockIdx.X, t.ThreadIdx.X == 0
	threads := uint32(t.BlockDim.X)
	thread, lane, warp := uint32(t.ThreadIdx.X), uint32(t.Lane()), uint32(t.Warp())
	width, warps := min(threads, 32), (threads+31)/32
	mask := s.Slots - 1
	level := s.Levels / 2
	cursor := cursors[me*CursorWords : (me+1)*CursorWords]
	command, left := me*ControlWords+Command, me*ControlWords+Left

	next := cursor[level]
	burst, handled, look := uint32(1), uint32(0), uint32(0)
	leaving := uint32(0)
	leave, empty, born, since := uint32(0), 0, int64(0), int64(0) // of the first thread
	if first {
		cursor[AtLevel] = level
		sh.Finished = [2]uint32{}
		born = kernel.GlobalTimer()
		since = born
	}
	for leaving == 0 {
		look ^= 1
		ring := me*int(s.Levels) + int(level)
		in := inbox[ring*int(s.Slots*s.InStep) : (ring+1)*int(s.Slots*s.InStep)]
		out := outbox[ring*int(s.Slots*s.OutStep) : (ring+1)*int(s.Slots*s.OutStep)]
		if first {
			sh.Fresh[look], sh.Leave[look] = burst, leave
			sh.Higher[look], sh.Lower[look] = 0, 0
		}
		t.Sync()
		asked := uint64(0)
		if first {
			asked = kernel.LoadRelaxed(&control[command], kernel.SystemScope)
		}
		if burst == 1 {
			for w := thread; w < s.In; w += threads {
				v := kernel.LoadRelaxed(&in[(next&mask)*s.InStep+w], kernel.SystemScope)
				keep(s.Stride, sh, words, v, next, look, 0, w)
			}
		} else {
			for w := lane; w < s.In; w += width {
				for from := warp; from < burst; from += warps * loads {
					var v [loads]uint64
					//quern:unroll
					for k := range uint32(loads) {
						if slot := from + k*warps; slot < burst {
							v[k] = kernel.LoadRelaxed(&in[((next+slot)&mask)*s.InStep+w], kernel.SystemScope)
						}
					}
					//quern:unroll
					for k := range uint32(loads) {
						if slot := from + k*warps; slot < burst {
							keep(s.Stride, sh, words, v[k], next+slot, look, slot, w)
						}
					}
				}
			}
		}
		for other := thread; other < s.Levels; other += threads {
			if other == level {
				continue
			}
			head := cursor[other]
			at := (uint32(me)*s.Levels+other)*s.Slots + head&mask
			if uint32(kernel.LoadRelaxed(&inbox[at*s.InStep], kernel.SystemScope)>>32) != head+1 {
				continue
			}
			if other > level {
				kernel.AtomicMax(&sh.Higher[look], other+1, kernel.BlockScope)
			} else {
				kernel.AtomicMax(&sh.Lower[look], other+1, kernel.BlockScope)
			}
		}
		for slot := warp; slot < burst; slot += warps {
			for w := lane; w < s.Out-OutHeader; w += width {
				words[slot*s.Stride+s.OutAt+w] = 0
			}
		}
		if asked != 0 {
			sh.Leave[look] = Asked
		}
		t.Sync()
		fresh, to := sh.Fresh[look], sh.Higher[look]
		if fresh == 0 && to == 0 {
			to = sh.Lower[look]
		}
		if why := sh.Leave[look]; why == Asked || why == Aged || why == Bounded && fresh == 0 && to == 0 {
			leaving = why
			break
		}
		if to != 0 {
			level, burst = to-1, 1
			next = cursor[level]
			if first {
				cursor[AtLevel] = level
			}
			continue
		}
		if fresh == 0 {
			burst = 1
			if first {
				if empty++; empty == looks || s.Leaves != 0 {
					empty = 0
					now := kernel.GlobalTimer()
					idle := now - since
					switch {
					case s.Life != 0 && now-born >= s.Life:
						leave = Aged
					case s.Leaves != 0 && idle >= s.Idle:
						// Either this loop sees in its next look what the host puts into
						// the inbox, or the host sees that the loop leaves.
						leave = Bounded
						kernel.StoreRelaxed(&control[left], uint64(s.Epoch)<<32|Bounded, kernel.SystemScope)
						kernel.Fence(kernel.SystemScope)
					case idle > s.Spin:
						pause(min(s.Nap, uint32(min(idle>>4, 1<<20))))
					}
				}
			}
			continue
		}
		if first && leave != 0 {
			leave = 0
			kernel.StoreRelaxed(&control[left], 0, kernel.SystemScope)
		}
		for m := uint32(0); m < fresh; m++ {
			turn := handled & 1
			start := int64(0)
			if first {
				start = kernel.Clock()
			}
			outcome := uint32(handle(t, &states[me], &cells[m].In, &cells[m].Out))
			if first {
				sh.Outcome[turn], sh.Cycles[turn] = outcome, uint32(kernel.Clock()-start)
			}
			kernel.AtomicAdd(&sh.Finished[turn], 1, kernel.BlockScope)
			t.Sync()
			tag, at := uint64(next+1)<<32, (next&mask)*s.OutStep
			if sh.Finished[turn] != (handled/2+1)*threads {
				// Some threads have stopped, perhaps the first: those that are left
				// all do what has to be done.
				for w := range s.Out {
					v := tag
					if w == Outcome {
						v |= HandlerFailed
					}
					kernel.StoreRelaxed(&out[at+w], v, kernel.SystemScope)
				}
				kernel.StoreRelaxed(&cursor[level], next+1)
				kernel.StoreRelease(&control[left], uint64(s.Epoch)<<32|Failed, kernel.SystemScope)
				return
			}
			result := sh.Outcome[turn]
			for w := thread; w < s.Out; w += threads {
				v := result
				switch {
				case w == Cycles:
					v = sh.Cycles[turn]
				case w >= OutHeader:
					v = words[m*s.Stride+s.OutAt+w-OutHeader]
				}
				kernel.StoreRelaxed(&out[at+w], tag|uint64(v), kernel.SystemScope)
			}
			next++
			handled++
			if first {
				cursor[level] = next
			}
			if result == uint32(kernel.Stop) || result == uint32(kernel.ReplyAndStop) {
				leaving = Stopped
				break
			}
			if s.Messages != 0 && handled == s.Messages {
				leaving = Bounded
				break
			}
		}
		burst = min(2*fresh, s.Batch)
		if first {
			empty, since = 0, kernel.GlobalTimer()
			if s.Life != 0 && since-born >= s.Life {
				leave = Aged
			}
		}
	}
	if first {
		kernel.StoreRelease(&control[left], uint64(s.Epoch)<<32|uint64(leaving), kernel.SystemScope)
	}
}

// keep puts word w of the message with a ticket, read from slot number slot of a
// look, where the handler finds it, or notes that it has not arrived.
func keep(stride uint32, sh *Status, words []uint32, v uint64, ticket, look, slot, w uint32) {
	switch {
	case uint32(v>>32) != ticket+1:
		kernel.AtomicMin(&sh.Fresh[look], slot, kernel.BlockScope)
	case w >= InHeader:
		words[slot*stride+w-InHeader] = uint32(v)
	}
}
