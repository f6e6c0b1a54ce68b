import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { pairSettings } from '../../testing/vrrp/vrrp-node.ts'
import { renderAdvertFilter } from './advert-filter.ts'

const config = { instance: 'n1', fabricInterface: 'fab0', segments: {} }
const CASES = {
  pair: pairSettings(1, { peers: ['10.9.0.2', '10.9.0.3'] }),
  ipv6: pairSettings(1, { source: 'fd09::1', peers: ['fd09::2'] }),
  alone: pairSettings(1, { peers: [] }),
  'with-local': pairSettings(1, {
    shards: [
      {
        ...{ number: 17, routerId: 255, priority: 253 },
        apart: { source: '10.9.0.1', peers: ['10.9.0.5'], advertMs: 100, missedAdverts: 5 },
      },
    ],
  }),
}

describe('renderAdvertFilter', () => {
  it.each(Object.entries(CASES))('admits the peers alone: %s', async (name, settings) => {
    await expect(renderAdvertFilter(config, settings).text).toMatchFileSnapshot(`testdata/${name}.nft`)
  })

  it.runIf(process.getuid?.() === 0)('is accepted by nft', () => {
    const text = Object.values(CASES).map((settings) => renderAdvertFilter(config, settings).text)
    for (const each of text) execFileSync('unshare', ['--net', 'nft', '--check', '--file', '-'], { input: each })
  })

  it('has a mark that differs when the peers differ', () => {
    const marks = Object.values(CASES).map((settings) => renderAdvertFilter(config, settings).mark)
    expect(new Set(marks).size).toBe(4)
  })
})
