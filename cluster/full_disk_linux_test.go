package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/vastgo/vast/cluster/internal/storage"
	"github.com/vastgo/vast/internal/childtest"
	"github.com/vastgo/vast/internal/longtest"
)

// roleVariable is the environment variable with the role of this program. Without a role, the program runs
// the tests.
const roleVariable = "VAST_CLUSTER_TEST_ROLE"

func TestMain(m *testing.M) {
	var err error
	switch role := os.Getenv(roleVariable); role {
	case "":
		longtest.Waiting(4)
		os.Exit(m.Run())
	case "server":
		err = serve(os.Args[1], os.Args[2])
	default:
		err = attend(role, os.Args[1])
	}
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

// roleCommand returns a command that runs this program in a role. The input of the command ends when this
// process ends.
func roleCommand(role string, args ...string) (c *exec.Cmd, in io.WriteCloser, out *bufio.Reader, err error) {
	c = exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), roleVariable+"="+role)
	c.Stderr = os.Stderr
	in, err = c.StdinPipe()
	if err == nil {
		var pipe io.Reader
		pipe, err = c.StdoutPipe()
		out = bufio.NewReader(pipe)
	}
	return c, in, out, err
}

// serve runs a NATS server until the input ends. It prints the address of the server. After the first line of
// the input, the files of the server cannot grow.
func serve(dir, port string) error {
	signal.Ignore(syscall.SIGXFSZ) // a write beyond RLIMIT_FSIZE then returns an error
	o := storage.ServerOptions{Dir: dir, Host: "127.0.0.1"}
	if _, err := fmt.Sscan(port, &o.Port); err != nil {
		return err
	}
	s, err := storage.StartServer(o)
	if err != nil {
		return err
	}
	fmt.Println(s.URL())
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1, Max: 1}); err != nil {
			return err
		}
		fmt.Println("done")
	}
	return nil
}

// attendant runs a server whose disk becomes full.
type attendant struct {
	kind   string // how the disk becomes full
	dir    string
	port   int
	server *exec.Cmd
	in     io.Writer     // the input of the server
	out    *bufio.Reader // the output of the server
}

// attend runs an attendant. It reads commands, and prints a line after each command.
func attend(kind, dir string) error {
	a := &attendant{kind: kind, dir: dir, port: -1}
	if kind == fullFolder {
		// Only this process and its children see the file system that is mounted.
		if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
			return err
		}
		if err := syscall.Mount("none", dir, "tmpfs", 0, "size=16m"); err != nil {
			return err
		}
	}
	fmt.Println("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		said, err := "done", error(nil)
		switch lines.Text() {
		case "start":
			said, err = a.start()
		case "kill":
			err = a.server.Process.Kill()
			_ = a.server.Wait() // the error says that the server was killed
		case "fill":
			err = a.fill()
		case "room":
			err = a.room()
		}
		if err != nil {
			return err
		}
		fmt.Println(said)
	}
	if a.server != nil {
		_ = a.server.Process.Kill() // the server may have ended
	}
	return nil
}

// start starts the server, at the same address each time, and returns the address.
func (a *attendant) start() (string, error) {
	c, in, out, err := roleCommand("server", filepath.Join(a.dir, "nats"), fmt.Sprint(a.port))
	if err != nil {
		return "", err
	}
	if err := c.Start(); err != nil {
		return "", err
	}
	a.server, a.in, a.out = c, in, out
	url, err := out.ReadString('\n')
	if err != nil {
		return "", err
	}
	url = strings.TrimSpace(url)
	_, err = fmt.Sscanf(url, "nats://127.0.0.1:%d", &a.port)
	return url, err
}

// The two ways in which a disk becomes full: another program fills the file system, or no file of the server
// can grow.
const (
	fullFolder = "full folder"
	noGrowth   = "no growth"
)

func (a *attendant) filler() string { return filepath.Join(a.dir, "filler") }

func (a *attendant) fill() error {
	if a.kind == noGrowth {
		if _, err := fmt.Fprintln(a.in, "fill"); err != nil {
			return err
		}
		_, err := a.out.ReadString('\n')
		return err
	}
	f, err := os.Create(a.filler())
	if err != nil {
		return err
	}
	for bytes := 1 << 20; bytes > 0; {
		n, err := f.Write(make([]byte, bytes))
		switch {
		case errors.Is(err, syscall.ENOSPC):
			bytes = min(bytes-1, max(n, bytes/2))
		case err != nil:
			return err
		}
	}
	return f.Close()
}

func (a *attendant) room() error {
	if a.kind == noGrowth {
		return nil // the limit ends with the process of the server
	}
	return os.Remove(a.filler())
}

// TestDiskIsFull fills the disk of the server while regions run. The regions wait. They continue after the
// disk has room again and the server has started again. Their states are the same as without the fault.
func TestDiskIsFull(t *testing.T) {
	t.Parallel()
	childtest.Needed(t)
	for _, kind := range []string{fullFolder, noGrowth} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			testFullDisk(t, kind)
		})
	}
}

func testFullDisk(t *testing.T, kind string) {
	c, in, out, err := roleCommand(kind, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if kind == fullFolder {
		c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
		if os.Getuid() != 0 {
			c.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
			c.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
			c.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
		}
	}
	if err := c.Start(); errors.Is(err, os.ErrPermission) {
		t.Skipf("this process is not allowed to mount a file system: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(in.Close(), c.Wait()); err != nil && !t.Skipped() {
			t.Error(err)
		}
	}()
	answer := func() string {
		line, err := out.ReadString('\n')
		if err != nil {
			t.Fatalf("the attendant printed %q, %v", line, err)
		}
		return strings.TrimSpace(line)
	}
	if said := answer(); said != "ready" {
		t.Skipf("the attendant is not allowed to mount a file system: %s", said)
	}
	do := func(command string) string {
		if _, err := fmt.Fprintln(in, command); err != nil {
			t.Fatal(err)
		}
		return answer()
	}

	w := newWorld(3, 400)
	w.slow.Store(int64(10 * time.Millisecond))
	var mu sync.Mutex
	var reports []error
	o := w.options(t, do("start"))
	o.Report = func(err error) {
		mu.Lock()
		defer mu.Unlock()
		reports = append(reports, err)
	}
	a := join(t, o)
	b := join(t, w.options(t, o.URL))
	until(t, "both nodes run regions", func() bool { return slices.Min(loads(a, b)) > 0 && least(a) > 5 })
	do("fill")
	waits := func(n *Node) bool {
		m := gather(t, n)
		return m.value("server_away") == 1 && m.sum("region_waiting") == 3 &&
			!slices.ContainsFunc(n.Regions(), func(s Status) bool {
				return !strings.Contains(s.Waiting, "waiting for the server: ")
			})
	}
	defer func() {
		if t.Failed() {
			t.Logf("the two nodes have the statuses\n%+v\n%+v", a.Regions(), b.Regions())
		}
	}()
	until(t, "the regions wait, and their statuses say why", func() bool { return waits(a) && waits(b) })
	mu.Lock()
	if !slices.ContainsFunc(reports, func(err error) bool {
		return strings.Contains(err.Error(), "waiting for the server: ")
	}) {
		t.Errorf("no report says that calls wait for the server: %v", reports)
	}
	mu.Unlock()
	t.Log(a.Regions()[0].Waiting)
	sent := make(chan error)
	go func() {
		_, err := a.Send(context.Background(), 1, []byte("meanwhile"))
		sent <- err
	}()
	ticks := func() (all []uint64) {
		for r := range 3 { // the ticks in the statuses are older than those in the regions
			all = append(all, max(a.regions[r].tick.Load(), b.regions[r].tick.Load()))
		}
		return all
	}
	before := ticks()
	time.Sleep(3 * o.Lease)
	for r, now := range ticks() {
		if now > before[r]+o.Lookahead {
			t.Errorf("region %d ran from tick %d to tick %d while the disk was full", r, before[r], now)
		}
	}
	if !waits(a) || !waits(b) {
		t.Error("the statuses no longer say that the regions wait for the server")
	}
	do("room")
	do("kill")
	do("start")
	if err := <-sent; err != nil {
		t.Error(err)
	}
	until(t, "the regions no longer wait", func() bool { return gather(t, a).sum("region_waiting") == 0 })
	if m := gather(t, a); m.value("server_away") != 0 {
		t.Error("the metrics say that the server does not answer")
	}
	w.slow.Store(0)
	wait(t, a, b)
	closeAll(t, a, b)
	w.check(t, 2, map[int][][]byte{1: {[]byte("meanwhile")}})
}
