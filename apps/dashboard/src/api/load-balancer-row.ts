export type { LoadBalancerHealth, LoadBalancerOwner, LoadBalancerRow } from '@spout/model'
