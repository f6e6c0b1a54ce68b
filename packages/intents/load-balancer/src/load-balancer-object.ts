import { GROUP } from '@spout/custom-resources'
import type { CustomObject, Resource } from '@spout/kube'

export type LoadBalancerObject = CustomObject

export const LOAD_BALANCERS: Resource<LoadBalancerObject> = {
  apiVersion: `${GROUP}/v1`,
  kind: 'LoadBalancer',
  plural: 'loadbalancers',
  namespaced: true,
}
