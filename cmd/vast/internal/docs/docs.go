// Package docs is the command `vast docs`. The command serves the pages of the documentation on this machine,
// with search. With the flag -out, the command writes the pages into a folder and does not serve them.
package docs

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/vastgo/vast/cmd/vast/internal/cli"
	pages "github.com/vastgo/vast/docs"
)

// Run serves the pages until an interrupt or a termination signal, or writes the pages into a folder. Run
// returns the exit status.
func Run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("vast docs", flag.ContinueOnError)
	flags.SetOutput(stderr)
	addr := flags.String("addr", "127.0.0.1:0",
		"serve the pages at this `host:port`; port 0 stands for any free port")
	browse := flags.Bool("open", false, "open a browser")
	out := flags.String("out", "",
		"write the pages into this `folder` and do not serve them; a browser can open the files")
	flags.Usage = func() {
		fmt.Fprint(stderr, "usage: vast docs [-addr host:port] [-open]\n       vast docs -out folder\n\n"+
			"Shows the guide and all other pages of the documentation in a browser, with search. The pages "+
			"need no network.\n\n")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return cli.Success
	} else if err != nil {
		return cli.Misuse
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "vast docs: unexpected argument %q\n", flags.Arg(0))
		flags.Usage()
		return cli.Misuse
	}
	s, err := newSite(pages.Files)
	if err == nil && *out != "" {
		if err = s.write(*out); err == nil {
			fmt.Fprintf(stdout, "%d files written; begin with index.html in %s\n", len(s.files), *out)
		}
	} else if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		err = s.serve(ctx, *addr, func(url string) {
			fmt.Fprintf(stdout, "%s\nCtrl-C ends the server.\n", url)
			if *browse {
				if err := openBrowser(url); err != nil {
					fmt.Fprintf(stderr, "vast docs: cannot open a browser: %v\n", err)
				}
			}
		})
	}
	if err != nil {
		return cli.Fail(stderr, "docs", err, cli.Failure)
	}
	return cli.Success
}

// serve serves the site at addr until ctx is done. serve calls ready with the site's URL after it has opened
// the port.
func (s *site) serve(ctx context.Context, addr string, ready func(url string)) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: s, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second,
		WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	defer context.AfterFunc(ctx, func() { server.Close() })()
	ready("http://" + browsable(l.Addr()) + "/")
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// browsable returns an address that a browser can open: it replaces an unspecified IP address by localhost.
func browsable(a net.Addr) string {
	tcp, ok := a.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return a.String()
	}
	return fmt.Sprintf("localhost:%d", tcp.Port)
}

func openBrowser(url string) error {
	switch runtime.GOOS {
	case "windows":
		return exec.Command("rundll32", "url.dll,FileProtocolHandler", url).Start()
	case "darwin":
		return exec.Command("open", url).Start()
	default:
		return exec.Command("xdg-open", url).Start()
	}
}
