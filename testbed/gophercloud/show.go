package main

import (
	"context"

	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/apiversions"
	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/loadbalancers"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"
)

// show reads what is known of the load balancer: itself, its status tree, its statistics, the port of its VIP, and the
// version of the API, by which cloud-provider-openstack chooses what to send.
func show(ctx context.Context, at *cloud, of service) (any, error) {
	balancer, err := at.balancerOf(ctx, of.Name)
	if err != nil {
		return nil, err
	}
	tree, err := loadbalancers.GetStatuses(ctx, at.balancing, balancer.ID).Extract()
	if err != nil {
		return nil, err
	}
	stats, err := loadbalancers.GetStats(ctx, at.balancing, balancer.ID).Extract()
	if err != nil {
		return nil, err
	}
	port, err := ports.Get(ctx, at.network, balancer.VipPortID).Extract()
	if err != nil {
		return nil, err
	}
	pages, err := apiversions.List(at.balancing).AllPages(ctx)
	if err != nil {
		return nil, err
	}
	versions, err := apiversions.ExtractAPIVersions(pages)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"balancer": balancer,
		"tree":     tree.Loadbalancer,
		"stats":    stats,
		"port":     port,
		"version":  versions[len(versions)-1].ID,
	}, nil
}
