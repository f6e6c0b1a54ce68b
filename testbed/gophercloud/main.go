// Command gophercloud keeps a load balancer for a Service as cloud-provider-openstack does, through gophercloud alone:
//
//	gophercloud VERB '{"name": …}'
//
// The cloud and the user come from OS_* variables. It prints what the cloud answered as JSON. Each verb finds its
// objects by name, as cloud-provider-openstack does after a restart.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// service is what a Service and cloud.conf say together.
type service struct {
	Name            string   `json:"name"`
	Port            int      `json:"port"`
	NodePort        int      `json:"nodePort"`
	Nodes           []node   `json:"nodes"`
	SourceRanges    []string `json:"sourceRanges"`
	VipSubnet       string   `json:"vipSubnet"`
	MemberSubnet    string   `json:"memberSubnet"`
	FloatingNetwork string   `json:"floatingNetwork"`
	// Bare load balancer first, then one object at a time (`provider-requires-serial-api-calls`).
	Serial bool `json:"serial"`
}

type node struct {
	Name    string `json:"name"`
	Address string `json:"address"`
}

var verbs = map[string]func(context.Context, *cloud, service) (any, error){
	"create":   create,
	"expose":   expose,
	"internal": makeInternal,
	"nodes":    setNodes,
	"sources":  setSources,
	"retag":    retag,
	"show":     show,
	"delete":   remove,
	"sweep":    sweep,
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 2 || verbs[args[0]] == nil {
		return fmt.Errorf("usage: gophercloud VERB JSON, with one of %d verbs; given %q", len(verbs), args)
	}
	var wanted service
	if err := json.Unmarshal([]byte(args[1]), &wanted); err != nil {
		return fmt.Errorf("the service is not JSON: %w", err)
	}
	at, err := login(ctx)
	if err != nil {
		return fmt.Errorf("login: %w", err)
	}
	answer, err := verbs[args[0]](ctx, at, wanted)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	return json.NewEncoder(os.Stdout).Encode(answer)
}
