package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/vastgo/vast/cluster/internal/protocol"
	"github.com/vastgo/vast/internal/executable"
)

// format is the version of the keys, messages and checkpoints.
const format = 1

// constants are the values that all processes of a cluster have in common. The first process writes them.
// Upgrades add versions.
type constants struct {
	Format    int       `json:"format"`
	Regions   int       `json:"regions"`
	Lookahead uint64    `json:"lookahead"`
	Versions  []version `json:"versions"`       // in the order of their first ticks
	Next      *proposal `json:"next,omitempty"` // the version that a process wants to add
}

// version is a version of the program.
type version struct {
	From   uint64 `json:"from"` // first tick of the version
	Build  string `json:"build"`
	Schema string `json:"schema"`
}

// code identifies the version in messages.
func (v version) code() protocol.Hash {
	return sha256.Sum256(encode([]string{v.Build, v.Schema}))
}

// differ returns an error that names the differences between c, the constants of this process, and those of
// the cluster.
func (c *constants) differ(cluster *constants) error {
	const remedy = "the option %s differs: the cluster has %v, and this process has %v; set " +
		"Options.%[1]s to the value of the cluster, or Options.Name to the name of another cluster"
	var found []error
	if c.Format != cluster.Format || len(cluster.Versions) == 0 {
		found = append(found, fmt.Errorf("the format differs: the cluster has the format %d, and this "+
			"program knows the format %d; use the version of the program that made the cluster",
			cluster.Format, c.Format))
	}
	if c.Regions != cluster.Regions {
		found = append(found, fmt.Errorf(remedy, "Regions", cluster.Regions, c.Regions))
	}
	if c.Lookahead != cluster.Lookahead {
		found = append(found, fmt.Errorf(remedy, "Lookahead", cluster.Lookahead, c.Lookahead))
	}
	return errors.Join(found...)
}

// differ returns an error that names the differences between v, the version of this process, and the version
// of the cluster.
func (v version) differ(cluster version) error {
	var found []error
	if v.Schema != cluster.Schema {
		found = append(found, fmt.Errorf("the option Schema differs: the cluster has %.200q, and this "+
			"process has %.200q; set Options.Schema to that of the cluster, Options.Upgrade to replace the "+
			"program of the cluster, or Options.Name to the name of another cluster",
			cluster.Schema, v.Schema))
	}
	if v.Build != cluster.Build {
		found = append(found, fmt.Errorf("the option Build differs: the cluster has %.200q, and this "+
			"process has %.200q; if both programs compute the same, set Options.Build to the same text in "+
			"both; otherwise set Options.Upgrade to replace the program of the cluster, or Options.Name to "+
			"the name of another cluster", cluster.Build, v.Build))
	}
	return errors.Join(found...)
}

// last returns the last tick of the version that begins with firstTick, or 0 if there is no later version.
func (c *constants) last(firstTick uint64) uint64 {
	for _, v := range c.Versions {
		if v.From > firstTick {
			return v.From - 1
		}
	}
	return 0
}

// before returns the schema of the version before the version that begins with firstTick.
func (c *constants) before(firstTick uint64) (schema string, ok bool) {
	i := slices.IndexFunc(c.Versions, func(v version) bool { return v.From == firstTick })
	if i < 1 {
		return "", false
	}
	return c.Versions[i-1].Schema, true
}

// agree compares the constants of this process with those of the cluster. If the cluster has no constants,
// agree writes them. It returns the first tick of this program's version, or 0 if the process must upgrade
// the cluster to this version.
func (n *Node) agree(ctx context.Context) (from uint64, err error) {
	if n.version.Build == "" {
		if n.version.Build, err = executable.Hash(); err != nil {
			return 0, err
		}
	}
	mine := constants{Format: format, Regions: n.o.Regions, Lookahead: n.o.Lookahead,
		Versions: []version{n.version}}
	for {
		cluster, revision, err := n.readConstants(ctx)
		if err != nil {
			return 0, err
		}
		if revision > 0 {
			from, err := n.versionIn(&cluster)
			return from, errors.Join(mine.differ(&cluster), err)
		}
		_, err = n.storage.Set(ctx, keyCluster, encode(mine), 0)
		if !errors.Is(err, protocol.ErrRefused) {
			return n.version.From, err
		}
	}
}

// versionIn returns the first tick of this program's version. If c does not have this version, versionIn
// returns an error, with two exceptions: it returns 0 if Options.Upgrade is set or c has no versions.
func (n *Node) versionIn(c *constants) (from uint64, err error) {
	for _, v := range slices.Backward(c.Versions) {
		if v.Build == n.version.Build && v.Schema == n.version.Schema {
			return v.From, nil
		}
	}
	if n.o.Upgrade || len(c.Versions) == 0 {
		// Constants without versions have another format; agree reports this with constants.differ.
		return 0, nil
	}
	return 0, n.version.differ(c.Versions[len(c.Versions)-1])
}

// readConstants reads the constants of the cluster. Their revision is 0 if the cluster has no constants.
func (n *Node) readConstants(ctx context.Context) (c constants, revision uint64, err error) {
	b, revision, err := n.storage.Get(ctx, keyCluster)
	if err != nil || revision == 0 {
		return c, 0, err
	}
	if err := json.Unmarshal(b, &c); err != nil {
		return c, 0, fmt.Errorf("the key %q of the cluster is damaged: %w", keyCluster, err)
	}
	return c, revision, nil
}

func (c *constants) codes() (all []protocol.Version) {
	for _, v := range c.Versions {
		all = append(all, protocol.Version{From: v.From, Code: v.code()})
	}
	return all
}

func encode(value any) []byte {
	b, err := json.Marshal(value)
	if err != nil {
		panic(err) // impossible: the values consist of numbers, strings and valid JSON
	}
	return b
}
