package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/vastgo/vast/cluster/internal/protocol"
)

// format is the version of the keys, messages and checkpoints.
const format = 1

// constants are what all processes of a cluster have in common. The first process writes them.
type constants struct {
	Format    int    `json:"format"`
	Regions   int    `json:"regions"`
	Lookahead uint64 `json:"lookahead"`
	Schema    string `json:"schema"`
}

// differ returns an error that names what differs between this process and its cluster.
func (c constants) differ(cluster constants) error {
	const remedy = "the option %s differs: the cluster has %v, and this process has %v; set " +
		"Options.%[1]s to that of the cluster, or Options.Name to that of another one"
	var found []error
	if c.Format != cluster.Format {
		found = append(found, fmt.Errorf("the format differs: the cluster has %d, and this program knows "+
			"%d; use a program of the version that has made the cluster", cluster.Format, c.Format))
	}
	if c.Regions != cluster.Regions {
		found = append(found, fmt.Errorf(remedy, "Regions", cluster.Regions, c.Regions))
	}
	if c.Lookahead != cluster.Lookahead {
		found = append(found, fmt.Errorf(remedy, "Lookahead", cluster.Lookahead, c.Lookahead))
	}
	if c.Schema != cluster.Schema {
		found = append(found, fmt.Errorf("the option Schema differs: the cluster has %.200q, and this "+
			"process has %.200q; use the program that has made the cluster, or set Options.Name to that of another "+
			"one", cluster.Schema, c.Schema))
	}
	return errors.Join(found...)
}

// agree compares the constants with those of the cluster, or writes them.
func (n *Node) agree(ctx context.Context) error {
	mine := constants{format, n.o.Regions, n.o.Lookahead, n.o.Schema}
	for {
		b, revision, err := n.storage.Get(ctx, keyCluster)
		if err != nil {
			return err
		}
		if revision > 0 {
			var cluster constants
			if err := json.Unmarshal(b, &cluster); err != nil {
				return fmt.Errorf("the key %q of the cluster is damaged: %w", keyCluster, err)
			}
			return mine.differ(cluster)
		}
		_, err = n.storage.Set(ctx, keyCluster, encode(mine), 0)
		if !errors.Is(err, protocol.ErrRefused) {
			return err
		}
	}
}

func encode(value any) []byte {
	b, err := json.Marshal(value)
	if err != nil {
		panic(err) // the keys have numbers, strings, and JSON that was checked
	}
	return b
}
