import { expect, it } from 'vitest'
import { domainEntry } from '../testing/entries.ts'
import type { DomainConfig } from './domain-config.ts'
import { layOutDomain } from './domain-layout.ts'
import { makeSegment, makeUplink } from './domain-links.ts'
import type { Run } from './run.ts'

const config: DomainConfig = { instance: 'ab1', fabricInterface: 'eth0', segments: {}, hostSegments: ['cluster'] }
const layout = layOutDomain(
  config,
  domainEntry(1, { segment: { physicalNetwork: 'cluster', vlan: null }, returnPath: 'snat', gateway: null }),
)

/** A kernel that notices the carrier of root's end only when it was asked as often. */
function kernel(link: string, times: number): { readonly run: Run; readonly asked: () => number } {
  let asked = 0
  const run: Run = async (_file, args) => {
    if (!args.includes('show')) return ''
    if (args.at(-1) !== link) return JSON.stringify([{ mtu: 1500 }])
    return JSON.stringify([{ operstate: ++asked < times ? 'LOWERLAYERDOWN' : 'UP' }])
  }
  return { run, asked: () => asked }
}

it.each([
  ['uplink', makeUplink, 'ab1u1'],
  ['segment of the node itself', makeSegment, 'ab1h1'],
] as const)('an %s is made once packets leave by the end that was set up first', async (_, make, link) => {
  const { run, asked } = kernel(link, 3)
  await make(run, config, layout)
  expect(asked()).toBe(3)
})
