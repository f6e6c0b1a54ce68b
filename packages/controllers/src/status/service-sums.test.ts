import type { ServiceStats } from '@spout/model'
import { expect, test } from 'vitest'
import { ServiceSums } from './service-sums.ts'

const stats = (loadBalancerId: string, totalConnections: number, activeConnections: number): ServiceStats => ({
  ...{ loadBalancerId, listenerId: `of ${loadBalancerId}`, totalConnections, activeConnections },
  ...{ bytesIn: 0, bytesOut: 0, requestErrors: 0 },
})

test('a node counts what all its listeners count, whatever starts over, ends or goes', () => {
  const changed: string[] = []
  const sums = new ServiceSums((nodeId) => changed.push(nodeId))
  const ofNode = () => {
    const { totalConnections, activeConnections } = sums.nodes.of('n') ?? {}
    return [totalConnections, activeConnections]
  }
  expect(ofNode()).toEqual([undefined, undefined])
  sums.report('n', stats('a', 1000, 3))
  sums.report('n', stats('b', 500, 4))
  sums.report('other', stats('a', 7, 1))
  expect(ofNode()).toEqual([0, 7])
  sums.report('n', stats('a', 1010, 2))
  sums.report('n', stats('b', 505, 4))
  expect(ofNode()).toEqual([15, 6])
  // The kernel starts to count anew.
  sums.report('n', stats('a', 4, 1))
  expect(ofNode()).toEqual([19, 5])
  sums.forget('b')
  expect(ofNode()).toEqual([19, 1])
  sums.ended('n')
  expect(ofNode()).toEqual([19, 0])
  sums.report('n', stats('a', 6, 2))
  expect(ofNode()).toEqual([21, 2])
  sums.prune({ id: 'a', listeners: [] })
  expect(ofNode()).toEqual([21, 0])
  expect(sums.nodes.of('other')).toMatchObject({ totalConnections: 0, activeConnections: 0 })
  expect(new Set(changed)).toEqual(new Set(['n', 'other']))
})
