package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/loadbalancers"
)

// sweep deletes the load balancers of a subnet whose names begin with that of the service, as Gardener's extension for
// OpenStack does before it deletes the subnet of a cluster.
func sweep(ctx context.Context, at *cloud, of service) (any, error) {
	pages, err := loadbalancers.List(at.balancing, loadbalancers.ListOpts{VipSubnetID: of.VipSubnet}).AllPages(ctx)
	if err != nil {
		return nil, err
	}
	found, err := loadbalancers.ExtractLoadBalancers(pages)
	if err != nil {
		return nil, err
	}
	swept := []string{}
	for _, one := range found {
		if !strings.HasPrefix(one.Name, of.Name) {
			continue
		}
		if one.ProvisioningStatus != "ACTIVE" && one.ProvisioningStatus != "ERROR" {
			return nil, fmt.Errorf("load balancer %s is %s", one.ID, one.ProvisioningStatus)
		}
		if err := loadbalancers.Delete(ctx, at.balancing, one.ID, loadbalancers.DeleteOpts{Cascade: true}).ExtractErr(); err != nil {
			return nil, err
		}
		if err := at.untilGone(ctx, one.ID); err != nil {
			return nil, err
		}
		swept = append(swept, one.Name)
	}
	return swept, nil
}
