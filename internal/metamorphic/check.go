package metamorphic

// T is what of a *testing.T is needed here.
type T interface {
	Helper()
	Fatalf(format string, a ...any)
}

// standard is the expression for the configurations that streams are compared in.
const standard = "metamorphic.Configurations()"

// Check fails where a stream is not the same in all configurations.
func Check(t T, cs []Configuration, ops []Op) {
	t.Helper()
	if d := Compare(cs, ops); d != nil {
		t.Fatalf("%v", d)
	}
}

// CheckAll is Check for [Configurations]. Where it fails the stream is shrunk, and printed as a Go test.
func CheckAll(t T, ops []Op) {
	t.Helper()
	d := Compare(Configurations(), ops)
	if d == nil {
		return
	}
	short := Shrink(ops, func(ops []Op) bool { return Compare(Configurations(), ops) != nil })
	t.Fatalf("%v\n%d operations are left of %d:\n%v\n\n%s", d, len(short), len(ops), Compare(Configurations(), short), Print(short, standard))
}
