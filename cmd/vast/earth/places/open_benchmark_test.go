package places

import "testing"

func BenchmarkEmbedded(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Embedded(Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
