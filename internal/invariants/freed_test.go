package invariants

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"
)

func TestMustBeFree(t *testing.T) {
	page := os.Getpagesize()
	all := make([]byte, 4*page)
	lead := page - int(uintptr(unsafe.Pointer(unsafe.SliceData(all)))%uintptr(page))
	b := all[lead-40 : lead+page+50] // parts of three pages
	for name, c := range map[string]struct {
		write   func()
		message string
	}{
		"never written": {func() {}, ""},
		"poisoned":      {func() { Poison(b) }, ""},
		"a zero page":   {func() { Poison(b); clear(b[40 : 40+page]) }, ""},
		"one byte": {func() { Poison(b); b[17] = 3 },
			fmt.Sprintf("byte 17 of %d is 0x03, and 0xdb was left there", len(b))},
		"the first byte": {func() { Poison(b); b[0] = 0 },
			fmt.Sprintf("byte 0 of %d is 0x00, and 0xdb was left there", len(b))},
		"the last byte": {func() { Poison(b); b[len(b)-1] = 9 },
			fmt.Sprintf("byte %d of %d is 0x09, and 0xdb was left there", len(b)-1, len(b))},
		"a zero byte of a poisoned page": {func() { Poison(b); b[40+page] = 0 },
			fmt.Sprintf("byte %d of %d is 0x00, and 0xdb was left there", 40+page, len(b))},
		"fresh memory": {func() { b[41] = 0x7f },
			fmt.Sprintf("byte 41 of %d is 0x7f, and 0x00 was left there", len(b))},
		"a byte of a zero page": {func() { Poison(b); clear(b[40 : 40+page]); b[50] = 1 },
			fmt.Sprintf("byte 50 of %d is 0x01, and 0x00 was left there", len(b))},
	} {
		clear(b)
		c.write()
		text := ""
		func() {
			defer func() {
				if v := recover(); v != nil {
					text = v.(string)
				}
			}()
			MustBeFree(b, func() string { return "slot 7 of ships" })
		}()
		if c.message == "" && text != "" || !strings.Contains(text, c.message) || text != "" &&
			!strings.HasPrefix(text, "slot 7 of ships was written after") {
			t.Errorf("%s: MustBeFree panics with %q, want %q", name, text, c.message)
		}
	}
	MustBeFree(nil, func() string { return "nothing" })
	clear(b)
	what := func() string { return fmt.Sprint("slot ", len(b)) }
	if n := testing.AllocsPerRun(100, func() { MustBeFree(b, what) }); n != 0 {
		t.Errorf("a check that finds nothing allocates %v times", n)
	}
}
