package main

import "math"

// particle is a particle as one struct.
type particle struct {
	life     float32 // seconds left
	position [3]float32
	velocity [3]float32
	color    [3]float32
}

const (
	dt   = 1.0 / 64 // seconds in a step
	glow = 1 - dt/2 // factor of a color in a step
)

// newParticle returns the i-th particle.
func newParticle(i int) particle {
	spread := func(k int) float32 { return float32(i*k%61) / 8 }
	return particle{
		life:     float32(1+i*7%150) * dt,
		position: [3]float32{spread(3), 0, spread(5)},
		velocity: [3]float32{spread(7) - 4, 10, spread(11) - 4},
		color:    [3]float32{1, spread(13) / 8, 0.5},
	}
}

// These are the calculations on one particle. The conversions round each product: without them a compiler may
// fuse a multiplication and an addition, and the state would depend on the processor.

func (p *particle) tick() { p.life -= dt }

func (p *particle) move() {
	for i := range p.position {
		p.position[i] += float32(p.velocity[i] * dt)
	}
}

func (p *particle) fade() {
	for i := range p.color {
		p.color[i] *= glow
	}
}

// These are the calculations on many values of one field. Vector instructions would go into functions like
// these.

// tick reduces lifetimes, eight in each turn of the loop. The length of life must be a multiple of eight.
func tick(life []float32) {
	for ; len(life) >= 8; life = life[8:] {
		l := (*[8]float32)(life)
		l[0] -= dt
		l[1] -= dt
		l[2] -= dt
		l[3] -= dt
		l[4] -= dt
		l[5] -= dt
		l[6] -= dt
		l[7] -= dt
	}
}

func move(position, velocity []float32) {
	velocity = velocity[:len(position)]
	for i := range position {
		position[i] += float32(velocity[i] * dt)
	}
}

func fade(color []float32) {
	for i := range color {
		color[i] *= glow
	}
}

// state returns a hash of a particle. The sum over all particles does not depend on their order.
func (p *particle) state() uint64 {
	h := uint64(math.Float32bits(p.life))
	for _, v := range [...][3]float32{p.position, p.velocity, p.color} {
		for _, f := range v {
			h = (h ^ uint64(math.Float32bits(f))) * 0x100000001B3 // FNV-1a's prime
		}
	}
	return h
}
