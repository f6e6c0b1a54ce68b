import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { VrrpSettings } from '@spout/model/node-state'
import { parseCidr } from '@spout/net'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keepalivedConfig, markerAddress, withoutMover } from './keepalived-config.ts'
import { vrrpFiles } from './vrrp-files.ts'

const place = {
  fabricInterface: 'fab0',
  files: vrrpFiles('/run/spout/vrrp'),
  moverPath: '/usr/lib/spout/spout-mover',
}

const settings = (fields: Partial<VrrpSettings> = {}): VrrpSettings => ({
  source: '10.9.0.1',
  peers: ['10.9.0.2', '10.9.0.3'],
  advertMs: 20,
  missedAdverts: 4,
  shards: [
    { number: 1, routerId: 61, priority: 254 },
    { number: 2, routerId: 62, priority: 200 },
  ],
  yield: false,
  ...fields,
})

const CASES = {
  pair: settings(),
  ipv6: settings({ source: 'fd09::1', peers: ['fd09::2'], advertMs: 10, missedAdverts: 8 }),
  'with-local': settings({
    shards: [
      { number: 1, routerId: 61, priority: 254 },
      {
        ...{ number: 17, routerId: 255, priority: 253 },
        apart: { source: '10.9.0.1', peers: ['10.9.0.5'], advertMs: 100, missedAdverts: 5 },
      },
    ],
  }),
  alone: settings({ peers: [], advertMs: 1000, missedAdverts: 3, shards: [{ number: 7, routerId: 255, priority: 1 }] }),
}

/** keepalived's own check of a text. It uses the loopback interface, which exists on every machine. */
let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'spout-keepalived-'))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

describe('keepalivedConfig', () => {
  it.each(Object.entries(CASES))('renders %s, and keepalived takes it', async (name, given) => {
    const text = keepalivedConfig(given, place)
    await expect(text).toMatchFileSnapshot(`testdata/${name}.conf`)
    const path = join(directory, `${name}.conf`)
    writeFileSync(path, withoutMover(text))
    execFileSync('/usr/sbin/keepalived', ['--config-test', `--use-file=${path}`], { stdio: 'pipe' })
  })

  it('is the same for the same settings, and does not speak of what a track file says', () => {
    expect(keepalivedConfig(settings(), place)).toBe(keepalivedConfig(settings({ yield: true }), place))
  })

  it.each<[string, Partial<VrrpSettings>]>([
    ['source: "10.9.0.01"', { source: '10.9.0.01' }],
    ['source: "FD09::1" is not in canonical form', { source: 'FD09::1' }],
    ['peers[1]: "10.9.0.2\\n}"', { peers: ['10.9.0.3', '10.9.0.2\n}'] }],
    ['peers[0]: fd09::2 is not of the family', { peers: ['fd09::2'] }],
    ["peers[0]: 10.9.0.1 is this node's own address", { peers: ['10.9.0.1'] }],
    ['peers[1]: 10.9.0.2 is named twice', { peers: ['10.9.0.2', '10.9.0.2'] }],
    ['advertMs: 25 is not a multiple of 10', { advertMs: 25 }],
    ['advertMs: 41000 is not a whole number from 10 to 40950', { advertMs: 41_000 }],
    ['missedAdverts: 0', { missedAdverts: 0 }],
    ['shards: there is none', { shards: [] }],
    ['shards[0].number: 17', { shards: [{ number: 17, routerId: 1, priority: 1 }] }],
    ['shards[0].routerId: 256', { shards: [{ number: 1, routerId: 256, priority: 1 }] }],
    ['shards[0].number: 18', { shards: [{ number: 18, routerId: 1, priority: 1, apart: settings() }] }],
    [
      "shards[0].apart.peers[0]: 10.9.0.1 is this node's own address",
      { shards: [{ number: 17, routerId: 1, priority: 1, apart: settings({ peers: ['10.9.0.1'] }) }] },
    ],
    ['shards[0].priority: 255', { shards: [{ number: 1, routerId: 1, priority: 255 }] }],
    [
      "shards[1].routerId: 9 is another shard's too",
      {
        shards: [
          { number: 1, routerId: 9, priority: 1 },
          { number: 2, routerId: 9, priority: 1 },
        ],
      },
    ],
  ])('refuses with words: %s', (words, fields) => {
    expect(() => keepalivedConfig(settings(fields), place)).toThrow(words)
  })

  it('accepts no text that could end a word of the configuration', () => {
    const word = fc.oneof(fc.string(), fc.constantFrom('x y', 'a;b', '"', '}\n', '$(id)', '$X', '!x', '#x'))
    fc.assert(
      fc.property(word, (text) => {
        for (const fields of [{ source: text }, { peers: [text] }])
          expect(() => keepalivedConfig(settings(fields), place)).toThrow()
      }),
    )
  })

  it('is the text without one line for the check', () => {
    const text = keepalivedConfig(settings(), place)
    const gone = text.split('\n').filter((line) => !withoutMover(text).split('\n').includes(line))
    expect(gone).toEqual(['    vrrp_notify_fifo_script "/usr/lib/spout/spout-mover /run/spout/vrrp"'])
  })

  it('refuses paths that cannot stand in it', () => {
    expect(() => keepalivedConfig(settings(), { ...place, moverPath: '/opt/my mover' })).toThrow(RangeError)
    for (const name of ['run', '/run/a b', '/run/"', '/run/\n}', '/run/$HOME']) expect(() => vrrpFiles(name)).toThrow()
  })
})

describe('markerAddress', () => {
  it('is link-local and differs by shard', () => {
    const all4 = Array.from({ length: 255 }, (_, index) => markerAddress(4, index + 1))
    const all6 = Array.from({ length: 255 }, (_, index) => markerAddress(6, index + 1))
    expect(new Set([...all4, ...all6]).size).toBe(510)
    expect(all4[60]).toBe('169.254.115.61/32')
    expect(all6[60]).toBe('fe80::7370:6f75:743d/128')
    for (const each of [...all4, ...all6]) expect(() => parseCidr(each)).not.toThrow()
  })
})
