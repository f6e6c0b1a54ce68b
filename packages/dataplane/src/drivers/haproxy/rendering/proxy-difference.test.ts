import type { LoadBalancerEntry, NodePool, Service } from '@spout/model/node-state'
import { proxyDifference } from '@spout/plan'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { domainEntry, member, pool, service, wanted } from '../../../testing/entries.ts'
import { backendShapeKey, frontendShapeKey } from '../sections/shape.ts'
import { renderEntry } from './render.ts'

const timeouts = fc.record({
  clientMs: fc.constantFrom(1_000, 50_000),
  connectMs: fc.constantFrom(1_000, 5_000),
  memberMs: fc.constantFrom(1_000, 50_000),
})
const listeners = fc
  .array(
    fc.record({
      protocol: fc.constantFrom('http' as const, 'tcp-proxy' as const, 'tls-passthrough' as const, 'tcp' as const),
      pool: fc.constantFrom(1, 2, null),
      insertHeaders: fc.subarray(['x-forwarded-for', 'x-forwarded-port'] satisfies Service['insertHeaders'][number][]),
      timeouts,
    }),
    { maxLength: 2 },
  )
  .map((all) => all.map(({ pool: number, ...fields }, at) => service(`l${at}`, 80 + at, number, fields)))
const pools = fc
  .tuple(
    ...[1, 2].map(() =>
      fc.record({
        algorithm: fc.constantFrom<NodePool['algorithm']>('round-robin', 'least-connections', 'source-ip'),
        sourceAffinity: fc.boolean(),
        keepSeconds: fc.option(fc.constantFrom(60, 300), { nil: undefined }),
        weight: fc.constantFrom(0, 1),
      }),
    ),
  )
  .map((all) =>
    all.map(({ weight, keepSeconds, ...fields }, at) =>
      pool(at + 1, [member('m', '10.0.0.11', { weight })], {
        ...{ mode: 'http', slots: null, ...fields, ...(keepSeconds !== undefined && { keepSeconds }) },
      }),
    ),
  )
const entries = fc
  .tuple(listeners, pools)
  .map(([services, all]): LoadBalancerEntry => wanted('a', domainEntry(1), { services, pools: all }).entry)

/** The sections of a configuration that an entry needs. */
function sections(entry: LoadBalancerEntry): ReadonlySet<string> {
  const { frontends, backends } = renderEntry({ entry, down: new Set() })
  return new Set([
    ...frontends.map(({ shape }) => frontendShapeKey(shape)),
    ...backends.map(({ shape }) => backendShapeKey(shape)),
  ])
}

it('a preview foresees every section that the proxy may lack', () => {
  fc.assert(
    fc.property(entries, entries, (before, after) => {
      const known = sections(before)
      if ([...sections(after)].every((section) => known.has(section))) return
      expect(proxyDifference(before, after)).toBe('may-restart')
    }),
  )
})
