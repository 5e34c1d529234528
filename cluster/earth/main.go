// Command earth runs the Earth of `vast earth` as regions on several processes.
//
//	go run ./cluster/earth -regions 16                  one process with an embedded server
//	go run ./cluster/earth -regions 16 -processes 3     starts two more processes; if one of the two dies,
//	                                                    the others take over its regions
//	go run ./cluster/earth -url nats://host:4222        joins the cluster of a server
//
// The hash of the state equals that of `vast earth` with the same seed, places and number of travellers. The
// hash does not depend on the number of regions or processes, or on processes that die.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/vastgo/vast/cluster"
	"github.com/vastgo/vast/cluster/internal/globe"
	simulation "github.com/vastgo/vast/cmd/vast/earth"
	"github.com/vastgo/vast/cmd/vast/earth/places"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "earth: %v\n", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (err error) {
	o, err := parse(args, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return fmt.Errorf("%w; -h shows the usage", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if o.child {
		go func() { // standard input ends when the parent process ends or closes it
			_, _ = io.Copy(io.Discard, stdin)
			cancel()
		}()
	}
	if o.data == "" {
		if o.data, err = os.MkdirTemp("", "vast-earth-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(o.data)) }()
	}
	planet, err := o.planet()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, planet.Close()) }()
	notices := &notices{out: stderr}
	node, err := cluster.Join(ctx, o.cluster(planet, notices.add))
	if ctx.Err() != nil && err != nil {
		return nil // a signal or the parent has ended ctx
	} else if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, node.Close()) }()
	v := &viewer{o: o, planet: planet, node: node, notices: notices, stdout: stdout}
	if o.inspect != noInspector {
		if v.inspector, err = o.serve(planet, node); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, v.inspector.close()) }()
		if o.json {
			fmt.Fprintf(stderr, "# inspector: %s\n", v.inspector.URL())
		}
	}
	children, err := o.start(node, stderr)
	if err != nil {
		return err
	}
	defer children.stop()
	return v.watch(ctx)
}

// planet makes the data that all regions share.
func (o options) planet() (*simulation.Globe, error) {
	c := simulation.Config{Travellers: o.travellers, Seed: o.seed,
		// Regions run in parallel. If there are few regions, each one uses several workers.
		Workers: max(1, globe.Cores()/o.regions)}
	if o.places != "" {
		file, err := os.Open(o.places)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		if c.Places, err = places.Read(file, o.places, places.Options{}); err != nil {
			return nil, err
		}
	}
	return simulation.NewGlobe(c, o.regions)
}

func (o options) cluster(planet *simulation.Globe, report func(error)) cluster.Options {
	return cluster.Options{
		Name: o.name, Dir: o.data, URL: o.url, Listen: o.listen,
		Regions: o.regions, Lookahead: simulation.Lookahead, Schema: planet.Schema(),
		New: func(region int) (cluster.Machine, error) {
			return globe.New(planet, region, o.ticks), nil
		},
		Hz: o.hz, Until: o.ticks, Every: o.checkpoint, Upgrade: o.upgrade, Report: report,
	}
}

type children []child

type child struct {
	cmd   *exec.Cmd
	stdin io.Closer
}

// start starts the other processes of the cluster. Each process has its own folder inside o.data.
func (o options) start(node *cluster.Node, stderr io.Writer) (started children, err error) {
	defer func() {
		if err != nil {
			started.stop()
		}
	}()
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	for i := 2; i <= o.processes; i++ {
		dir := filepath.Join(o.data, "process-"+strconv.Itoa(i))
		cmd := exec.Command(program, o.args(node.URL(), dir)...)
		cmd.Stderr = stderr
		stdin, err := cmd.StdinPipe()
		if err != nil {
			return started, err
		}
		if err := cmd.Start(); err != nil {
			return started, err
		}
		started = append(started, child{cmd, stdin})
	}
	return started, nil
}

// stop ends the processes and waits for them. It ignores their exit status, because each process prints its
// own errors, and the death of one is no error of this process.
func (c children) stop() {
	for _, p := range c {
		_ = p.stdin.Close()
		_ = p.cmd.Wait()
	}
}
