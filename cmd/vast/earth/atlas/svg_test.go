package atlas

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math/bits"
	"strings"
	"testing"
)

func svg(t *testing.T, g Grid, title string) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteSVG(&b, g, title); err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(bytes.NewReader(b.Bytes())); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("not well formed: %v\n%s", err, &b)
		}
	}
	return b.String()
}

func TestSVGDrawsEveryDotOnce(t *testing.T) {
	g := New(60, 18).Draw(nil, nil, Style{})
	want := 0
	for _, c := range g.Cells {
		if c.Rune != ' ' {
			want += bits.OnesCount32(uint32(c.Rune - brailleBlank))
		}
	}
	picture := svg(t, g, "")
	if got := strings.Count(picture, "h0"); got != want || want == 0 {
		t.Errorf("the picture has %d dots, want %d", got, want)
	}
	if !strings.Contains(picture, `stroke="`+hex(coastColour)+`"`) {
		t.Error("no dot has the coast's colour")
	}
	if again := svg(t, g, ""); again != picture {
		t.Error("the same grid gave two different pictures")
	}
}

func TestSVGText(t *testing.T) {
	g := NewGrid(12, 2)
	g.Print(1, 0, "a<b c  d ", RGB{1, 2, 3})
	g.Print(0, 1, "x█▁▀\x00\x1by", RGB{255, 0, 0})
	for x := range 7 {
		g.Cells[12+x].Bg = RGB{0, 0, 255}
	}
	picture := svg(t, g, "5 < 6 & more")
	for _, want := range []string{
		`<title>5 &lt; 6 &amp; more</title>`,
		`<text x="20" y="52" textLength="40" lengthAdjust="spacingAndGlyphs" fill="#010203">a&lt;b c</text>`,
		`<text x="76" y="52" textLength="8" lengthAdjust="spacingAndGlyphs" fill="#010203">d</text>`,
		`fill="#0000ff" d="M12 56h56v16h-56z"`,
		`fill="#ff0000" d="M20 56h8v16h-8zM28 70h8v2h-8zM36 56h8v8h-8z"`,
		`viewBox="0 0 120 84"`,
	} {
		if !strings.Contains(picture, want) {
			t.Errorf("%s\nis not in\n%s", want, picture)
		}
	}
}

func TestSVGWithoutColours(t *testing.T) {
	g := New(60, 18).Draw(nil, nil, Style{NoColor: true})
	picture := svg(t, g, "")
	if n := strings.Count(picture, "stroke=\""); n != 1 {
		t.Errorf("the dots have %d colours, want 1", n)
	}
	svg(t, Grid{}, "empty")
}

type full struct{}

var errFull = errors.New("no room")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestSVGWriterFails(t *testing.T) {
	if err := WriteSVG(full{}, NewGrid(1, 1), ""); !errors.Is(err, errFull) {
		t.Errorf("got %v, want %v", err, errFull)
	}
}
