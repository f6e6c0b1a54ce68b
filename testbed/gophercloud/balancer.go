package main

import (
	"context"
	"fmt"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/listeners"
	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/loadbalancers"
	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/monitors"
	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/pools"
)

// create makes the load balancer with its children, in one call or one by one.
func create(ctx context.Context, at *cloud, of service) (any, error) {
	options := loadbalancers.CreateOpts{
		Name:        of.Name,
		Description: "Kubernetes external service default/" + of.Name + " from cluster lab",
		Provider:    "amphora",
		VipSubnetID: of.VipSubnet,
		Tags:        []string{of.Name},
	}
	if !of.Serial {
		pool := of.pool()
		pool.Members = of.members()
		pool.Monitor = of.monitor()
		listener := of.listener()
		listener.DefaultPool = &pool
		options.Listeners = []listeners.CreateOpts{listener}
	}
	made, err := loadbalancers.Create(ctx, at.balancing, options).Extract()
	if err != nil {
		return nil, err
	}
	if made.VipAddress == "" || made.VipPortID == "" || made.VipSubnetID == "" {
		return nil, fmt.Errorf("the answer to the creation has no address, port or subnet: %+v", made)
	}
	if _, err := at.untilActive(ctx, made.ID); err != nil {
		return nil, err
	}
	if of.Serial {
		if err := at.fill(ctx, made.ID, of); err != nil {
			return nil, err
		}
	}
	return at.untilActive(ctx, made.ID)
}

// fill makes listener, pool, members and monitor by a call each.
func (at *cloud) fill(ctx context.Context, balancerID string, of service) error {
	options := of.listener()
	options.LoadbalancerID = balancerID
	listener, err := listeners.Create(ctx, at.balancing, options).Extract()
	if err != nil {
		return err
	}
	if _, err := at.untilActive(ctx, balancerID); err != nil {
		return err
	}
	poolOptions := of.pool()
	poolOptions.ListenerID = listener.ID
	pool, err := pools.Create(ctx, at.balancing, poolOptions).Extract()
	if err != nil {
		return err
	}
	if _, err := at.untilActive(ctx, balancerID); err != nil {
		return err
	}
	for _, member := range of.members() {
		if _, err := pools.CreateMember(ctx, at.balancing, pool.ID, member).Extract(); err != nil {
			return err
		}
		if _, err := at.untilActive(ctx, balancerID); err != nil {
			return err
		}
	}
	monitor := of.monitor()
	monitor.PoolID = pool.ID
	_, err = monitors.Create(ctx, at.balancing, monitor).Extract()
	return err
}

func (of service) listener() listeners.CreateOpts {
	return listeners.CreateOpts{
		Name:         "listener_0_" + of.Name,
		Protocol:     listeners.ProtocolTCP,
		ProtocolPort: of.Port,
		ConnLimit:    gophercloud.IntToPointer(-1),
		// cloud-provider-openstack always sends it; open to everybody is the default.
		AllowedCIDRs: []string{"0.0.0.0/0"},
	}
}

func (of service) pool() pools.CreateOpts {
	return pools.CreateOpts{Name: "pool_0_" + of.Name, Protocol: pools.ProtocolTCP, LBMethod: pools.LBMethodRoundRobin}
}

func (of service) members() []pools.CreateMemberOpts {
	members := []pools.CreateMemberOpts{}
	for _, node := range of.Nodes {
		members = append(members, pools.CreateMemberOpts{
			Name: node.Name, Address: node.Address, ProtocolPort: of.NodePort, SubnetID: of.MemberSubnet,
		})
	}
	return members
}

func (of service) monitor() *monitors.CreateOpts {
	return &monitors.CreateOpts{
		Name: "monitor_0_" + of.Name, Type: monitors.TypeTCP, Delay: 1, Timeout: 1, MaxRetries: 1, MaxRetriesDown: 1,
	}
}

// remove deletes the load balancer with its children, and waits until it is gone.
func remove(ctx context.Context, at *cloud, of service) (any, error) {
	balancer, err := at.balancerOf(ctx, of.Name)
	if err != nil {
		return nil, err
	}
	err = loadbalancers.Delete(ctx, at.balancing, balancer.ID, loadbalancers.DeleteOpts{Cascade: true}).ExtractErr()
	if err != nil {
		return nil, err
	}
	if err := at.untilGone(ctx, balancer.ID); err != nil {
		return nil, err
	}
	// The deletion takes the children with it.
	_, poolErr := pools.Get(ctx, at.balancing, balancer.Pools[0].ID).Extract()
	_, listenerErr := listeners.Get(ctx, at.balancing, balancer.Listeners[0].ID).Extract()
	return map[string]bool{"poolGone": isGone(poolErr), "listenerGone": isGone(listenerErr)}, nil
}

func isGone(err error) bool { return gophercloud.ResponseCodeIs(err, 404) }
