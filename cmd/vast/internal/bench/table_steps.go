package bench

import "github.com/vastgo/vast/bulk"

//go:noinline
func tickTable(t *particleTable) {
	for b := range t.Blocks() {
		age(t.life.Slice(b))
	}
}

// age subtracts dt from all lifetimes. The loop is unrolled eight times, because the overhead of a simple
// loop exceeds the time of the memory accesses. In tickStructs, memory accesses dominate.
func age(life []float32) {
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
	for i := range life {
		life[i] -= dt
	}
}

//go:noinline
func moveTable(t *particleTable) {
	for b := range t.Blocks() {
		advance(t.x.Slice(b), t.vx.Slice(b))
		advance(t.y.Slice(b), t.vy.Slice(b))
		advance(t.z.Slice(b), t.vz.Slice(b))
	}
}

func advance(x, v []float32) {
	v = v[:len(x)]
	for i := range x {
		x[i] += float32(v[i] * dt)
	}
}

func scale(x []float32, by float32) {
	for i := range x {
		x[i] *= by
	}
}

//go:noinline
func liveTable(t *particleTable) {
	for b := range t.Blocks() {
		age(t.life.Slice(b))
		slow(t.x.Slice(b), t.vx.Slice(b))
		slow(t.y.Slice(b), t.vy.Slice(b))
		slow(t.z.Slice(b), t.vz.Slice(b))
		scale(t.r.Slice(b), fade)
		scale(t.g.Slice(b), fade)
		scale(t.b.Slice(b), fade)
	}
}

// The function slow moves the positions x by the velocities v, and multiplies the velocities by drag.
func slow(x, v []float32) {
	v = v[:len(x)]
	for i := range x {
		x[i] += float32(v[i] * dt)
		v[i] *= drag
	}
}

//go:noinline
func tickStructs(ps []particle) {
	for i := range ps {
		ps[i].tick()
	}
}

//go:noinline
func moveStructs(ps []particle) {
	for i := range ps {
		ps[i].move()
	}
}

//go:noinline
func liveStructs(ps []particle) {
	for i := range ps {
		ps[i].live()
	}
}

//go:noinline
func tickFields(f *particleFields) { age(f.life) }

//go:noinline
func moveFields(f *particleFields) {
	advance(f.x, f.vx)
	advance(f.y, f.vy)
	advance(f.z, f.vz)
}

//go:noinline
func liveFields(f *particleFields) {
	tickFields(f)
	slow(f.x, f.vx)
	slow(f.y, f.vy)
	slow(f.z, f.vz)
	scale(f.r, fade)
	scale(f.g, fade)
	scale(f.b, fade)
}

//go:noinline
func removeFromTable(t *particleTable, rows []uint32) {
	for _, row := range rows {
		t.RemoveSwap(int(row))
	}
}

//go:noinline
func removeFromStructs(ps []particle, rows []uint32) []particle {
	for _, row := range rows {
		last := len(ps) - 1
		ps[row] = ps[last]
		ps = ps[:last]
	}
	return ps
}

//go:noinline
func removeFromFields(f *particleFields, rows []uint32) {
	for _, row := range rows {
		f.life = swapOut(f.life, row)
		f.x, f.y, f.z = swapOut(f.x, row), swapOut(f.y, row), swapOut(f.z, row)
		f.vx, f.vy, f.vz = swapOut(f.vx, row), swapOut(f.vy, row), swapOut(f.vz, row)
		f.r, f.g, f.b = swapOut(f.r, row), swapOut(f.g, row), swapOut(f.b, row)
	}
}

func swapOut(s []float32, row uint32) []float32 {
	last := len(s) - 1
	s[row] = s[last]
	return s[:last]
}

//go:noinline
func visitRows(t *particleTable, rows []int, passes int) {
	for range passes {
		for _, row := range rows {
			*t.life.At(row) -= dt
			*t.x.At(row) += *t.vx.At(row)
			*t.y.At(row) += *t.vy.At(row)
			*t.z.At(row) += *t.vz.At(row)
			*t.r.At(row) += *t.g.At(row) * *t.b.At(row)
		}
	}
}

//go:noinline
func visitStructs(ps []particle, rows []int) {
	for _, row := range rows {
		p := &ps[row]
		p.life -= dt
		p.position.x += p.velocity.x
		p.position.y += p.velocity.y
		p.position.z += p.velocity.z
		p.hue.x += p.hue.y * p.hue.z
	}
}

// particleColumns holds temporary columns of the six numbers that particle.move touches.
type particleColumns struct {
	*bulk.Transpose[particle]
	x, y, z, vx, vy, vz *bulk.Temporary[float32]
}

func newParticleColumns() *particleColumns {
	t := bulk.NewTranspose[particle](bulk.TransposeOptions{})
	return &particleColumns{t,
		bulk.ColumnOf(t, func(p *particle) *float32 { return &p.position.x }),
		bulk.ColumnOf(t, func(p *particle) *float32 { return &p.position.y }),
		bulk.ColumnOf(t, func(p *particle) *float32 { return &p.position.z }),
		bulk.InputOf(t, func(p *particle) *float32 { return &p.velocity.x }),
		bulk.InputOf(t, func(p *particle) *float32 { return &p.velocity.y }),
		bulk.InputOf(t, func(p *particle) *float32 { return &p.velocity.z }),
	}
}

//go:noinline
func (c *particleColumns) move(p *bulk.Pool[particle]) {
	for range c.Pool(p) {
		advance(c.x.Slice(), c.vx.Slice())
		advance(c.y.Slice(), c.vy.Slice())
		advance(c.z.Slice(), c.vz.Slice())
	}
}

//go:noinline
func movePool(p *bulk.Pool[particle]) {
	for _, run := range p.Runs() {
		for i := range run {
			run[i].move()
		}
	}
}
