package heap

import "testing"

func TestClasses(t *testing.T) {
	for _, page := range []int{4 << 10, 8 << 10, 16 << 10, 64 << 10} {
		all := makeClasses(page)
		of := makeClassOf(all)
		if largest := int(all[len(all)-1].size); largest != page-page/8 || len(all) > 256 {
			t.Errorf("pages of %d: %d classes up to %d bytes", page, len(all), largest)
		}
		for i := range all {
			c := &all[i]
			size, bytes := int(c.size), int(c.pages)*page
			if size%grain != 0 || c.pages < 1 || c.pages > maxRun || bytes > 512<<10 {
				t.Errorf("pages of %d: pools of %d pages of objects of %d bytes", page, c.pages, size)
			}
			if n := int(c.objects); n != bytes/size || n > page/grain || n > 1<<16-1 ||
				bytes-n*size >= bytes/8 {
				t.Errorf("pages of %d: %d objects of %d bytes in %d pages", page, n, size, c.pages)
			}
			if i > 0 {
				if added := size - int(all[i-1].size) - 1; added >= grain && added*8 >= size {
					t.Errorf("pages of %d: rounding up to %d bytes adds up to %d", page, size, added)
				}
			}
			for off := range bytes {
				if got, want := c.index(uint32(off)), off/size; int(got) != want {
					t.Fatalf("pages of %d: byte %d lies in object %d of %d bytes, got %d", page, off, want,
						size, got)
				}
			}
		}
		for size := range int(all[len(all)-1].size) + 1 {
			i := of[(size+grain-1)/grain]
			if size > int(all[i].size) || i > 0 && size <= int(all[i-1].size) {
				t.Fatalf("pages of %d: %d bytes are of class %d, of %d bytes", page, size, i, all[i].size)
			}
		}
	}
}
