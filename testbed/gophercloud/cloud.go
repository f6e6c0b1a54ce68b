package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/loadbalancers"
)

// cloud is a user's clients of the services that the catalog names.
type cloud struct {
	balancing *gophercloud.ServiceClient
	network   *gophercloud.ServiceClient
}

func login(ctx context.Context) (*cloud, error) {
	options, err := openstack.AuthOptionsFromEnv()
	if err != nil {
		return nil, err
	}
	provider, err := openstack.AuthenticatedClient(ctx, options)
	if err != nil {
		return nil, err
	}
	where := gophercloud.EndpointOpts{Region: "RegionOne"}
	balancing, err := openstack.NewLoadBalancerV2(provider, where)
	if err != nil {
		return nil, err
	}
	network, err := openstack.NewNetworkV2(provider, where)
	if err != nil {
		return nil, err
	}
	return &cloud{balancing, network}, nil
}

// balancerOf finds a load balancer by its name.
func (at *cloud) balancerOf(ctx context.Context, name string) (*loadbalancers.LoadBalancer, error) {
	pages, err := loadbalancers.List(at.balancing, loadbalancers.ListOpts{Name: name}).AllPages(ctx)
	if err != nil {
		return nil, err
	}
	found, err := loadbalancers.ExtractLoadBalancers(pages)
	if err != nil {
		return nil, err
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("%d load balancers are named %s", len(found), name)
	}
	return &found[0], nil
}

// untilActive waits as cloud-provider-openstack does, but with a shorter first pause: the first question comes at once.
func (at *cloud) untilActive(ctx context.Context, id string) (*loadbalancers.LoadBalancer, error) {
	for {
		balancer, err := loadbalancers.Get(ctx, at.balancing, id).Extract()
		if err != nil {
			return nil, err
		}
		switch balancer.ProvisioningStatus {
		case "ACTIVE":
			return balancer, nil
		case "ERROR":
			return nil, fmt.Errorf("load balancer %s is in ERROR", id)
		}
		if err := pause(ctx); err != nil {
			return nil, fmt.Errorf("load balancer %s is still %s: %w", id, balancer.ProvisioningStatus, err)
		}
	}
}

func (at *cloud) untilGone(ctx context.Context, id string) error {
	for {
		_, err := loadbalancers.Get(ctx, at.balancing, id).Extract()
		if gophercloud.ResponseCodeIs(err, http.StatusNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := pause(ctx); err != nil {
			return fmt.Errorf("load balancer %s is still there: %w", id, err)
		}
	}
}

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(100 * time.Millisecond):
		return nil
	}
}
