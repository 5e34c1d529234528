package bench

import (
	"fmt"

	"github.com/vastgo/vast/bulk"
)

// particle has the ten numbers of a particle in "Data Structures Part 1: Bulk Data" (Our Machinery).
type particle struct {
	life                    float32
	position, velocity, hue vector
}

const bytesParticle = 40

// numberedParticle returns the initial value of particle i.
func numberedParticle(i int) particle {
	return particle{float32(i%1024) + 1, vector{float32(i % 4096), 1, 2}, vector{1, float32(i % 16), 3},
		vector{1, 0.5, float32(i % 2)}}
}

// dt is the duration of a step. It is a power of two, so that products with dt are exact and all sides get
// the same results.
const dt = 1.0 / 64

// The method live multiplies by these factors.
const (
	drag = 1 - dt/4  // for velocities
	fade = 1 - dt/16 // for colours
)

// tick touches one of the ten numbers.
func (p *particle) tick() { p.life -= dt }

// move touches six of the ten numbers.
func (p *particle) move() {
	p.position.x += float32(p.velocity.x * dt)
	p.position.y += float32(p.velocity.y * dt)
	p.position.z += float32(p.velocity.z * dt)
}

// live touches all ten numbers.
func (p *particle) live() {
	p.tick()
	p.move()
	p.velocity.x *= drag
	p.velocity.y *= drag
	p.velocity.z *= drag
	p.hue.x *= fade
	p.hue.y *= fade
	p.hue.z *= fade
}

type particleTable struct {
	*bulk.Table
	life       *bulk.Field[float32]
	x, y, z    *bulk.Field[float32]
	vx, vy, vz *bulk.Field[float32]
	r, g, b    *bulk.Field[float32]
}

func newParticleTable(n int, l bulk.Layout, pageAligned bool) *particleTable {
	t := bulk.NewTable(bulk.TableOptions{Name: "bench", Layout: l, Capacity: n, PageAligned: pageAligned})
	f := func(name string) *bulk.Field[float32] { return bulk.NewField[float32](t, name) }
	return &particleTable{t, f("life"), f("x"), f("y"), f("z"), f("vx"), f("vy"), f("vz"), f("r"), f("g"),
		f("b")}
}

func filledTable(n int, l bulk.Layout, pageAligned bool) *particleTable {
	t := newParticleTable(n, l, pageAligned)
	appendTable(t, n)
	return t
}

func (t *particleTable) set(row int, p *particle) {
	*t.life.At(row) = p.life
	*t.x.At(row), *t.y.At(row), *t.z.At(row) = p.position.x, p.position.y, p.position.z
	*t.vx.At(row), *t.vy.At(row), *t.vz.At(row) = p.velocity.x, p.velocity.y, p.velocity.z
	*t.r.At(row), *t.g.At(row), *t.b.At(row) = p.hue.x, p.hue.y, p.hue.z
}

func (t *particleTable) get(row int) particle {
	return particle{*t.life.At(row), vector{*t.x.At(row), *t.y.At(row), *t.z.At(row)},
		vector{*t.vx.At(row), *t.vy.At(row), *t.vz.At(row)}, vector{*t.r.At(row), *t.g.At(row), *t.b.At(row)}}
}

// particleFields holds particles in ten slices, as programs without a table do.
type particleFields struct {
	life, x, y, z, vx, vy, vz, r, g, b []float32
}

func (f *particleFields) get(i int) particle {
	return particle{f.life[i], vector{f.x[i], f.y[i], f.z[i]}, vector{f.vx[i], f.vy[i], f.vz[i]},
		vector{f.r[i], f.g[i], f.b[i]}}
}

//go:noinline
func appendTable(t *particleTable, n int) {
	for i := range n {
		p := numberedParticle(i)
		t.set(t.Append(), &p)
	}
}

//go:noinline
func appendStructs(n int) []particle {
	var ps []particle
	for i := range n {
		ps = append(ps, numberedParticle(i))
	}
	return ps
}

//go:noinline
func appendFields(n int) *particleFields {
	f := &particleFields{}
	for i := range n {
		p := numberedParticle(i)
		f.life = append(f.life, p.life)
		f.x, f.y, f.z = append(f.x, p.position.x), append(f.y, p.position.y), append(f.z, p.position.z)
		f.vx, f.vy, f.vz = append(f.vx, p.velocity.x), append(f.vy, p.velocity.y), append(f.vz, p.velocity.z)
		f.r, f.g, f.b = append(f.r, p.hue.x), append(f.g, p.hue.y), append(f.b, p.hue.z)
	}
	return f
}

// checkParticles panics if one of three particles has a wrong value after the given number of steps.
func checkParticles(side string, n, steps int, step func(*particle), get func(int) particle) {
	for _, i := range []int{0, n / 3, n - 1} {
		want := numberedParticle(i)
		for range steps {
			step(&want)
		}
		if got := get(i); got != want {
			panic(fmt.Sprintf("bench: particle %d of %s is %v after %d steps, want %v", i, side, got, steps,
				want))
		}
	}
}
