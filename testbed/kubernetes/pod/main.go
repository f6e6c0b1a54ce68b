// Command pod is what a pod of the test bed runs. It answers over HTTP and UDP which pod it is and whom it saw.
//
// HTTP: "/" answers JSON; "/healthz" is 200; "/ready" is 503 while the file -not-ready exists; "/delay?ms=N" answers
// late; "/download?seconds=N" sends a line every 5 ms. UDP: the pod's name, a space and what came.
//
// At SIGTERM it goes on for SHUTDOWN_DELAY (environment, such as "2s"; none by default), then closes its listeners,
// finishes the requests that are under way, and ends.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	lineEvery       = 5 * time.Millisecond
	longestDownload = 60 * time.Second
	longestDelay    = 60 * time.Second
)

type pod struct {
	namespace, name, node, notReadyFile string
}

func main() {
	var self pod
	var httpPorts, udpPorts string
	flag.StringVar(&self.namespace, "namespace", "", "the pod's namespace")
	flag.StringVar(&self.name, "name", "", "the pod's name")
	flag.StringVar(&self.node, "node", "", "the node it runs on")
	flag.StringVar(&self.notReadyFile, "not-ready", "", "a file that says it is not ready, by being there")
	flag.StringVar(&httpPorts, "http", "", "ports to answer HTTP on, separated by commas")
	flag.StringVar(&udpPorts, "udp", "", "ports to answer datagrams on, separated by commas")
	flag.Parse()
	delay, err := time.ParseDuration(orDefault(os.Getenv("SHUTDOWN_DELAY"), "0s"))
	if err != nil {
		fail(fmt.Errorf("SHUTDOWN_DELAY: %w", err))
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	server := &http.Server{Handler: self.handler()}
	for _, port := range ports(httpPorts) {
		listener, err := net.Listen("tcp", ":"+port)
		if err != nil {
			fail(err)
		}
		go func() {
			if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
				fail(err)
			}
		}()
	}
	for _, port := range ports(udpPorts) {
		socket, err := net.ListenPacket("udp", ":"+port)
		if err != nil {
			fail(err)
		}
		go self.echo(socket)
	}
	fmt.Println("ready")
	<-stop
	time.Sleep(delay)
	_ = server.Shutdown(context.Background())
}

func (p pod) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", p.whoAnswers)
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("/ready", func(w http.ResponseWriter, _ *http.Request) {
		if _, err := os.Stat(p.notReadyFile); err == nil {
			http.Error(w, "not ready", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("/delay", func(w http.ResponseWriter, r *http.Request) {
		milliseconds, _ := strconv.Atoi(r.URL.Query().Get("ms"))
		time.Sleep(min(time.Duration(milliseconds)*time.Millisecond, longestDelay))
		p.whoAnswers(w, r)
	})
	mux.HandleFunc("/download", p.download)
	return mux
}

func (p pod) whoAnswers(w http.ResponseWriter, r *http.Request) {
	client, port, _ := net.SplitHostPort(r.RemoteAddr)
	clientPort, _ := strconv.Atoi(port)
	server, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	w.Header().Set("content-type", "application/json")
	w.Header().Set("x-pod", p.name)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"pod": p.name, "namespace": p.namespace, "node": p.node, "client": client, "clientPort": clientPort,
		"server": server.String(), "host": r.Host, "path": r.URL.RequestURI(), "forwardedFor": r.Header.Get("x-forwarded-for"),
	})
}

func (p pod) download(w http.ResponseWriter, r *http.Request) {
	seconds, _ := strconv.ParseFloat(orDefault(r.URL.Query().Get("seconds"), "1"), 64)
	lines := int(min(time.Duration(seconds*float64(time.Second)), longestDownload) / lineEvery)
	w.Header().Set("content-type", "text/plain")
	w.Header().Set("x-pod", p.name)
	for line := 1; line <= lines; line++ {
		if _, err := fmt.Fprintf(w, "%s %d of %d\n", p.name, line, lines); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush()
		time.Sleep(lineEvery)
	}
}

func (p pod) echo(socket net.PacketConn) {
	buffer := make([]byte, 65536)
	for {
		length, from, err := socket.ReadFrom(buffer)
		if err != nil {
			fail(err)
		}
		_, _ = socket.WriteTo(append([]byte(p.name+" "), buffer[:length]...), from)
	}
}

func ports(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}

func orDefault(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
