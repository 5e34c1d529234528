package main

import (
	"bytes"
	"encoding/json"
	"runtime"
	"strings"
	"testing"
)

func TestFragmentation(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("resident memory can be read on Linux only")
	}
	var stdout, stderr bytes.Buffer
	if status := run([]string{"-n", "3000", "-json"}, &stdout, &stderr); status != 0 {
		t.Fatalf("status %d: %s", status, &stderr)
	}
	var got struct {
		Blocks, Size int
		Rows         []row
	}
	if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Blocks != 3000 || got.Size != 16<<10 || len(got.Rows) != 3 ||
		got.Rows[0].Allocator != "vast/heap" {
		t.Fatalf("got %+v, want three allocators, first vast/heap, and 3000 blocks of 16 KiB", got)
	}
	all := got.Blocks * got.Size
	for _, r := range got.Rows {
		if r.Allocated < all*9/10 || r.Large < all*9/10 {
			t.Errorf("%+v, want about %d bytes in Allocated and in Large", r, all)
		}
	}
	if r := got.Rows[0]; r.Freed > all*6/10+1<<20 || r.Large > all*12/10 {
		t.Errorf("%+v: freed blocks stay resident, or the large allocation does not use their memory", r)
	}
}

func TestTable(t *testing.T) {
	var out bytes.Buffer
	if err := print(&out, false, 4, 100, []row{{"one", 400e6, 200e6, 600e6}}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if got := strings.Join(strings.Fields(lines[3]), " "); got != "one 400.0 200.0 600.0 1.50" ||
		len(lines[2]) != len(lines[3]) {
		t.Errorf("the table is wrong or not aligned:\n%s", &out)
	}
}

func TestBadArguments(t *testing.T) {
	for _, args := range []string{"-n 1", "-size 0", "-n 2000000 -size 1000000", "-n x", "more", "-fast"} {
		var stdout, stderr bytes.Buffer
		if status := run(strings.Fields(args), &stdout, &stderr); status != 2 || stdout.Len() > 0 ||
			stderr.Len() == 0 {
			t.Errorf("%s: status %d, stdout %q, stderr %q; want status 2 and a message on stderr only", args,
				status, &stdout, &stderr)
		}
	}
}
