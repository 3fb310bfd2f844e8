package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
)

// scene is a synthetic stream. Its sensors take turns; each has a level, a season,
// a drift and noise. Occasionally, one or several readings in a row are far off.
type scene struct {
	random *rand.Rand
	left   int64 // number of readings; negative for an endless stream
	next   int
	list   []synthetic
}

// synthetic is a sensor of a scene.
type synthetic struct {
	name   string
	number int64
	level  float64
	drift  float64 // of the level, per reading
	noise  float64 // standard deviation
	season []float64

	quiet int64   // number of initial readings without an anomaly
	burst int     // number of anomalous readings to come
	shift float64 // of anomalous readings
}

// Properties of a scene's anomalies.
const (
	eventChance = 1.0 / 1500 // probability that an anomaly begins at a reading
	burstChance = 0.2        // probability that it spans several readings
	burstLength = 4
	leastShift  = 8 // standard deviations of the noise
	mostShift   = 16
)

func newScene(opt options) *scene {
	s := &scene{random: rand.New(rand.NewPCG(opt.seed, 0)), left: opt.readings}
	if opt.readings == 0 {
		s.left = -1
	}
	for i := range opt.sensors {
		m := synthetic{name: fmt.Sprintf("sensor-%02d", i+1), level: 20 + 10*s.random.Float64(), noise: 0.1 + s.random.Float64()}
		m.drift = m.noise * 1e-4 * (s.random.Float64() - 0.5)
		m.season = make([]float64, opt.period)
		size, phase, second := 8*s.random.Float64(), 2*math.Pi*s.random.Float64(), s.random.Float64()
		if opt.period == 1 {
			size = 0
		}
		for k := range m.season {
			x := 2*math.Pi*float64(k)/float64(opt.period) + phase
			m.season[k] = size * (math.Sin(x) + 0.4*second*math.Sin(2*x))
		}
		d := detector{Period: int32(opt.period)}
		m.quiet = d.learning()
		s.list = append(s.list, m)
	}
	return s
}

func (s *scene) judged() bool { return true }
func (s *scene) close() error { return nil }

func (s *scene) read(ctx context.Context, batch []sample) (int, error) {
	for i := range batch {
		if s.left == 0 {
			return i, io.EOF
		}
		s.left--
		batch[i] = s.list[s.next].sample(s.random)
		s.next = (s.next + 1) % len(s.list)
	}
	return len(batch), ctx.Err()
}

// sample returns the sensor's next reading.
func (m *synthetic) sample(r *rand.Rand) sample {
	if m.burst == 0 && m.number >= m.quiet && r.Float64() < eventChance {
		m.burst = 1
		if r.Float64() < burstChance {
			m.burst = burstLength
		}
		m.shift = m.noise * (leastShift + (mostShift-leastShift)*r.Float64())
		if r.IntN(2) == 0 {
			m.shift = -m.shift
		}
	}
	v := m.level + m.drift*float64(m.number) + m.season[m.number%int64(len(m.season))] + m.noise*r.NormFloat64()
	strange := m.burst > 0
	if strange {
		m.burst--
		v += m.shift
	}
	m.number++
	return sample{m.name, v, strange}
}
