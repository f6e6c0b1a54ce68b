import { expect, test } from 'vitest'
import { clusterObjects } from './cluster-objects.ts'

test('a load balancer names every object that shares it, and their cluster', () => {
  const annotations = {
    'kubernetes.cluster': 'prod',
    'kubernetes.class': 'gold',
    'kubernetes.ingress.0b7e': 'shop/web',
    'kubernetes.ingress.1c8f': 'shop/api',
    'octavia.provider': 'amphora',
  }
  expect(clusterObjects(annotations)).toEqual([
    { kind: 'ingress', name: 'shop/web', cluster: 'prod' },
    { kind: 'ingress', name: 'shop/api', cluster: 'prod' },
  ])
})

test('a cluster that is not named is null, and other kinds are no objects', () => {
  expect(clusterObjects({ 'kubernetes.load-balancer.2d90': 'shop/lb', 'kubernetes.pod.1': 'shop/pod' })).toEqual([
    { kind: 'load-balancer', name: 'shop/lb', cluster: null },
  ])
})
