package main

import "math"

type particle struct {
	life     float32 // seconds left
	position [3]float32
	velocity [3]float32
	color    [3]float32
}

const (
	dt   = 1.0 / 64 // seconds in a step
	glow = 1 - dt/2 // each step multiplies the color by this factor
)

func newParticle(i int) particle {
	spread := func(k int) float32 { return float32(i*k%61) / 8 }
	return particle{
		life:     float32(1+i*7%150) * dt,
		position: [3]float32{spread(3), 0, spread(5)},
		velocity: [3]float32{spread(7) - 4, 10, spread(11) - 4},
		color:    [3]float32{1, spread(13) / 8, 0.5},
	}
}

// The following methods calculate one particle. The conversion to float32 rounds the product. Without the
// conversion, a compiler may fuse multiplication and addition, and the result would depend on the processor.

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

// The following functions calculate many values of a field. They could use vector instructions.

// tick requires that len(life) is a multiple of eight.
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

// state returns a hash of the particle. The sum of the hashes does not depend on the order of the particles.
func (p *particle) state() uint64 {
	h := uint64(math.Float32bits(p.life))
	for _, v := range [...][3]float32{p.position, p.velocity, p.color} {
		for _, f := range v {
			h = (h ^ uint64(math.Float32bits(f))) * 0x100000001B3 // the prime of FNV-1a
		}
	}
	return h
}
