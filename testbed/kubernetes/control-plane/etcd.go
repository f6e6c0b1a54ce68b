package main

import (
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/storage/wal"
)

// The write-ahead log is allocated a whole segment at once: 64 MiB by default, which is what a snapshot of the
// directory would have to copy.
const walSegmentBytes = 4 << 20

// newEtcdCommand is one member that trusts the disk: nothing is flushed, because a test's data need not outlive the
// machine. A copy of the data directory made while the process is stopped (SIGSTOP) is a backup of it.
func newEtcdCommand() *cobra.Command {
	var dataDir, client, peer string
	command := &cobra.Command{
		Use:          "etcd",
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(*cobra.Command, []string) error {
			return serveEtcd(dataDir, client, peer)
		},
	}
	command.Flags().StringVar(&dataDir, "data-dir", "", "directory of the data; made when missing")
	command.Flags().StringVar(&client, "listen-client-url", "http://127.0.0.1:2379", "where clients come in")
	command.Flags().StringVar(&peer, "listen-peer-url", "http://127.0.0.1:2380", "where peers would come in")
	_ = command.MarkFlagRequired("data-dir")
	return command
}

func serveEtcd(dataDir, client, peer string) error {
	clientURL, err := url.Parse(client)
	if err != nil {
		return fmt.Errorf("--listen-client-url: %w", err)
	}
	peerURL, err := url.Parse(peer)
	if err != nil {
		return fmt.Errorf("--listen-peer-url: %w", err)
	}
	wal.SegmentSizeBytes = walSegmentBytes
	config := embed.NewConfig()
	config.Dir = dataDir
	config.Name = "default"
	config.LogLevel = "warn"
	config.UnsafeNoFsync = true
	config.ListenClientUrls = []url.URL{*clientURL}
	config.AdvertiseClientUrls = config.ListenClientUrls
	config.ListenPeerUrls = []url.URL{*peerURL}
	config.AdvertisePeerUrls = config.ListenPeerUrls
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	// A single member elects itself: no need to wait a second for others.
	config.TickMs = 10
	config.ElectionMs = 100
	server, err := embed.StartEtcd(config)
	if err != nil {
		return err
	}
	defer server.Close()
	select {
	case <-server.Server.ReadyNotify():
	case <-time.After(30 * time.Second):
		return fmt.Errorf("etcd was not ready within 30 s")
	}
	fmt.Println("etcd is ready")
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	select {
	case <-stop:
		return nil
	case err := <-server.Err():
		return err
	}
}
