package vastarrow

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/measure"
)

// compare measures several ways to do the same work, in turns, and reports the best time of each way. For
// each way except the last, compare also reports the time of the last way divided by the time of this way.
func compare(b *testing.B, names []string, ways ...func()) {
	for _, way := range ways {
		way() // warms up
	}
	samples := measure.Turns(max(5, b.N), len(ways), nil, func(side int) float64 {
		start := time.Now()
		ways[side]()
		return float64(time.Since(start))
	})
	last := len(ways) - 1
	for i, s := range samples {
		b.ReportMetric(measure.Samples(s).Best()/1e6, names[i]+"-ms")
		if i < last {
			b.ReportMetric(measure.Ratio(samples[i], samples[last]), names[i]+"-times")
		}
	}
	b.ReportMetric(0, "ns/op")
}

const benchmarkRows = 1 << 20

type mixed struct {
	Place, Age int32
	Mass       float64
	State      uint8
	Since      int64
}

// BenchmarkRecords compares Records with the builders of Arrow, which append one value at a time.
func BenchmarkRecords(b *testing.B) {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	number, pair, fields := vast.NewColumn[float64](w), vast.NewColumn[position](w), vast.NewColumn[mixed](w)
	w.Archetype(number, pair, fields).NewN(benchmarkRows, nil)
	for s := range w.Query(number).Slots() {
		i := s.Index()
		*number.At(s), *pair.At(s) = float64(i), position{float64(i), 1}
		*fields.At(s) = mixed{int32(i), 2, 3, 4, 5}
	}
	records := func(cols ...vast.AnyColumn) func() {
		q := w.Query(cols...)
		return func() {
			for _, r := range Records(q, cols...) {
				r.Release()
			}
		}
	}
	float := func() {
		to := array.NewFloat64Builder(memory.DefaultAllocator)
		defer to.Release()
		for r := range w.Query(number).Runs() {
			for _, v := range number.Slice(r) {
				to.Append(v)
			}
		}
		to.NewArray().Release()
	}
	list := func() {
		to := array.NewFixedSizeListBuilder(memory.DefaultAllocator, 2, arrow.PrimitiveTypes.Float64)
		defer to.Release()
		values := to.ValueBuilder().(*array.Float64Builder)
		for r := range w.Query(pair).Runs() {
			for _, v := range pair.Slice(r) {
				to.Append(true)
				values.Append(v.X)
				values.Append(v.Y)
			}
		}
		to.NewArray().Release()
	}
	structs := func() {
		place := array.NewInt32Builder(memory.DefaultAllocator)
		age := array.NewInt32Builder(memory.DefaultAllocator)
		mass := array.NewFloat64Builder(memory.DefaultAllocator)
		state := array.NewUint8Builder(memory.DefaultAllocator)
		since := array.NewInt64Builder(memory.DefaultAllocator)
		all := []array.Builder{place, age, mass, state, since}
		for _, to := range all {
			to.Reserve(benchmarkRows)
			defer to.Release()
		}
		for r := range w.Query(fields).Runs() {
			for _, v := range fields.Slice(r) {
				place.Append(v.Place)
				age.Append(v.Age)
				mass.Append(v.Mass)
				state.Append(v.State)
				since.Append(v.Since)
			}
		}
		for _, to := range all {
			to.NewArray().Release()
		}
	}
	names := []string{"records", "builders"}
	b.Run("number", func(b *testing.B) { compare(b, names, records(number), float) })
	b.Run("pair", func(b *testing.B) { compare(b, names, records(pair), list) })
	b.Run("struct", func(b *testing.B) { compare(b, names, records(fields), structs) })
}

type traveller struct {
	Lon, Lat float64 // the position of one of the places
	Place    int32
	Goal     int32
	Speed    float32
	Age      uint8
	Trips    uint16
	Since    int64
	Ill      int8
	Money    int32
}

// simulation makes entities with the numbers of a simulation: positions of places, small counters, IDs.
func simulation(w *vast.World) vast.Column[traveller] {
	r := rand.New(rand.NewPCG(1, 2))
	const places = 200_000
	var lon, lat [places]float64
	for i := range lon {
		lon[i] = math.Round(r.Float64()*3600000-1800000) / 10000
		lat[i] = math.Round(r.Float64()*1800000-900000) / 10000
	}
	col := vast.NewColumn[traveller](w)
	for _, s := range w.Archetype(col).NewEach(1_000_000) {
		at := int32(min(places-1, int(r.ExpFloat64()*places/8)))
		*col.At(s) = traveller{lon[at], lat[at], at, int32(r.IntN(places)), float32(r.IntN(30)) / 4,
			uint8(r.IntN(100)), uint16(r.ExpFloat64() * 20), 1_700_000_000 + int64(r.IntN(86400)),
			int8(r.IntN(10) / 9), int32(r.ExpFloat64() * 1000)}
	}
	return col
}

type counter struct{ n int }

func (c *counter) Write(b []byte) (int, error) {
	c.n += len(b)
	return len(b), nil
}

// BenchmarkWrite compares the formats with package encoding/csv: 1,000,000 rows, each with the ID of an
// entity and 10 numbers.
func BenchmarkWrite(b *testing.B) {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	col := simulation(w)
	q := w.Query(col)
	standard := func(out io.Writer) {
		to := csv.NewWriter(out)
		to.Write([]string{"entity", "Lon", "Lat", "Place", "Goal", "Speed", "Age", "Trips", "Since", "Ill",
			"Money"})
		row := make([]string, 11)
		for s := range q.Slots() {
			v := col.At(s)
			row[0] = strconv.FormatUint(s.Entity().ID(), 10)
			row[1] = strconv.FormatFloat(v.Lon, 'g', -1, 64)
			row[2] = strconv.FormatFloat(v.Lat, 'g', -1, 64)
			row[3] = strconv.Itoa(int(v.Place))
			row[4] = strconv.Itoa(int(v.Goal))
			row[5] = strconv.FormatFloat(float64(v.Speed), 'g', -1, 32)
			row[6] = strconv.Itoa(int(v.Age))
			row[7] = strconv.Itoa(int(v.Trips))
			row[8] = strconv.FormatInt(v.Since, 10)
			row[9] = strconv.Itoa(int(v.Ill))
			row[10] = strconv.Itoa(int(v.Money))
			to.Write(row)
		}
		to.Flush()
	}
	var size counter
	standard(&size)
	for _, f := range allFormats {
		b.Run(fmt.Sprint(f), func(b *testing.B) {
			var bytes counter
			write := func(out io.Writer) {
				if err := Write(context.Background(), out, f, mustEntities(b, q, col)); err != nil {
					b.Fatal(err)
				}
			}
			write(&bytes)
			compare(b, []string{"vast", "csv"}, func() { write(io.Discard) }, func() { standard(io.Discard) })
			b.ReportMetric(float64(bytes.n)/1e6, "MB")
			b.ReportMetric(float64(size.n)/float64(bytes.n), "times-smaller")
		})
	}
}
