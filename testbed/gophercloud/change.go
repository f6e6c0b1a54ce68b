package main

import (
	"context"
	"fmt"

	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/listeners"
	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/loadbalancers"
	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/pools"
)

// setNodes replaces the members by the wanted set in one call.
func setNodes(ctx context.Context, at *cloud, of service) (any, error) {
	balancer, err := at.balancerOf(ctx, of.Name)
	if err != nil {
		return nil, err
	}
	wanted := []pools.BatchUpdateMemberOpts{}
	for _, node := range of.Nodes {
		wanted = append(wanted, pools.BatchUpdateMemberOpts{
			Name: &node.Name, Address: node.Address, ProtocolPort: of.NodePort, SubnetID: &of.MemberSubnet,
		})
	}
	if len(balancer.Pools) != 1 {
		return nil, fmt.Errorf("the load balancer has %d pools", len(balancer.Pools))
	}
	poolID := balancer.Pools[0].ID
	if err := pools.BatchUpdateMembers(ctx, at.balancing, poolID, wanted).ExtractErr(); err != nil {
		return nil, err
	}
	if _, err := at.untilActive(ctx, balancer.ID); err != nil {
		return nil, err
	}
	return at.membersOf(ctx, poolID)
}

func (at *cloud) membersOf(ctx context.Context, poolID string) ([]pools.Member, error) {
	pages, err := pools.ListMembers(at.balancing, poolID, pools.ListMembersOpts{}).AllPages(ctx)
	if err != nil {
		return nil, err
	}
	return pools.ExtractMembers(pages)
}

// setSources limits who may connect (`loadBalancerSourceRanges`).
func setSources(ctx context.Context, at *cloud, of service) (any, error) {
	balancer, err := at.balancerOf(ctx, of.Name)
	if err != nil {
		return nil, err
	}
	found, err := at.listenersOf(ctx, balancer.ID)
	if err != nil {
		return nil, err
	}
	for _, listener := range found {
		change := listeners.UpdateOpts{AllowedCIDRs: &of.SourceRanges}
		if _, err := listeners.Update(ctx, at.balancing, listener.ID, change).Extract(); err != nil {
			return nil, err
		}
		if _, err := at.untilActive(ctx, balancer.ID); err != nil {
			return nil, err
		}
	}
	return at.listenersOf(ctx, balancer.ID)
}

func (at *cloud) listenersOf(ctx context.Context, balancerID string) ([]listeners.Listener, error) {
	pages, err := listeners.List(at.balancing, listeners.ListOpts{LoadbalancerID: balancerID}).AllPages(ctx)
	if err != nil {
		return nil, err
	}
	return listeners.ExtractListeners(pages)
}

// retag adds the tag of a second Service, as for a load balancer that two Services share, and finds it by that.
func retag(ctx context.Context, at *cloud, of service) (any, error) {
	balancer, err := at.balancerOf(ctx, of.Name)
	if err != nil {
		return nil, err
	}
	tags := append(balancer.Tags, "shared")
	if _, err := loadbalancers.Update(ctx, at.balancing, balancer.ID, loadbalancers.UpdateOpts{Tags: &tags}).Extract(); err != nil {
		return nil, err
	}
	pages, err := loadbalancers.List(at.balancing, loadbalancers.ListOpts{Tags: []string{"shared", of.Name}}).AllPages(ctx)
	if err != nil {
		return nil, err
	}
	return loadbalancers.ExtractLoadBalancers(pages)
}
