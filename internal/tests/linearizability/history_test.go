package linearizability

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/anishathalye/porcupine"

	"github.com/vastgo/vast/internal/longtest"
)

// recordHistory runs operations in several goroutines at the same time, and returns their arguments, results
// and times. Porcupine searches for an order in which a sequential object would have these results. The times
// come from a counter. With the times of a coarse clock, more operations would seem concurrent, and porcupine
// would have to try far too many orders.
func recordHistory(clients, operations int, seed uint64, choose func(*rand.Rand) any,
	do func(client int, input any) any) []porcupine.Operation {
	var clock, ready atomic.Int64
	byClient := make([][]porcupine.Operation, clients)
	var all sync.WaitGroup
	for client := range clients {
		all.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(client)))
			for ready.Add(1); ready.Load() < int64(clients); {
				runtime.Gosched()
			}
			for range operations {
				input := choose(r)
				call := clock.Add(1)
				output := do(client, input)
				byClient[client] = append(byClient[client], porcupine.Operation{ClientId: client,
					Input: input, Call: call, Output: output, Return: clock.Add(1)})
			}
		})
	}
	all.Wait()
	var whole []porcupine.Operation
	for _, operations := range byClient {
		whole = append(whole, operations...)
	}
	return whole
}

func linearHistories() int {
	if !longtest.Enabled() {
		return 300
	}
	return 3000
}

func printed(history []porcupine.Operation) (text string) {
	for _, o := range history {
		text += fmt.Sprintf("goroutine %d from %d to %d: %v returned %v\n", o.ClientId, o.Call, o.Return,
			o.Input, o.Output)
	}
	return text
}
