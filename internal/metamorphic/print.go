package metamorphic

import (
	"fmt"
	"strings"
)

// Print returns the Go source of a test that plays a stream. The argument configurations is a Go expression
// for the configurations to compare. The argument imports names the packages that the expression needs,
// besides package metamorphic.
func Print(ops []Op, configurations string, imports ...string) string {
	var b strings.Builder
	b.WriteString("package shrunk\n\nimport (\n\t\"testing\"\n\n" +
		"\t\"github.com/vastgo/vast/internal/metamorphic\"\n")
	for _, path := range imports {
		fmt.Fprintf(&b, "\t%q\n", path)
	}
	b.WriteString(")\n\nfunc TestShrunk(t *testing.T) {\n\tmetamorphic.Check(t, " + configurations +
		", []metamorphic.Op{\n")
	for _, op := range ops {
		fmt.Fprintf(&b, "\t\t{Do: metamorphic.%v", op.Do)
		for _, field := range []struct {
			name string
			v    uint16
		}{{"A", op.A}, {"B", op.B}, {"V", op.V}} {
			if field.v != 0 {
				fmt.Fprintf(&b, ", %s: %d", field.name, field.v)
			}
		}
		b.WriteString("},\n")
	}
	b.WriteString("\t})\n}\n")
	return b.String()
}
