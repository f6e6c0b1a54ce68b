package main

import (
	"context"
	"fmt"

	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/attributestags"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/floatingips"
)

// expose gives the load balancer a floating IP, described and tagged as its own.
func expose(ctx context.Context, at *cloud, of service) (any, error) {
	balancer, err := at.balancerOf(ctx, of.Name)
	if err != nil {
		return nil, err
	}
	made, err := floatingips.Create(ctx, at.network, floatingips.CreateOpts{
		Description:       "Floating IP for Kubernetes external service default/" + of.Name + " from cluster lab",
		FloatingNetworkID: of.FloatingNetwork,
		PortID:            balancer.VipPortID,
	}).Extract()
	if err != nil {
		return nil, err
	}
	tags := attributestags.ReplaceAllOpts{Tags: []string{of.Name}}
	if _, err := attributestags.ReplaceAll(ctx, at.network, "floatingips", made.ID, tags).Extract(); err != nil {
		return nil, err
	}
	return at.floatingOf(ctx, balancer.VipPortID)
}

// makeInternal takes the floating IP away and deletes it: the Service became internal.
func makeInternal(ctx context.Context, at *cloud, of service) (any, error) {
	balancer, err := at.balancerOf(ctx, of.Name)
	if err != nil {
		return nil, err
	}
	floating, err := at.floatingOf(ctx, balancer.VipPortID)
	if err != nil {
		return nil, err
	}
	// Without a port gophercloud sends an empty change, which Neutron takes as a disassociation.
	freed, err := floatingips.Update(ctx, at.network, floating.ID, floatingips.UpdateOpts{}).Extract()
	if err != nil {
		return nil, err
	}
	return freed, floatingips.Delete(ctx, at.network, floating.ID).ExtractErr()
}

// floatingOf finds the floating IP of a port.
func (at *cloud) floatingOf(ctx context.Context, portID string) (*floatingips.FloatingIP, error) {
	pages, err := floatingips.List(at.network, floatingips.ListOpts{PortID: portID}).AllPages(ctx)
	if err != nil {
		return nil, err
	}
	found, err := floatingips.ExtractFloatingIPs(pages)
	if err != nil {
		return nil, err
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("port %s has %d floating IPs", portID, len(found))
	}
	return &found[0], nil
}
