import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BgpSettings } from '@spout/model/node-state'
import { afterAll, describe, expect, it } from 'vitest'
import { NAMED_SETTINGS, place } from '../../testing/bgp/named-settings.ts'
import { renderBfd } from './render-bfd.ts'
import { renderBgp } from './render-bgp.ts'

const directory = mkdtempSync(join(tmpdir(), 'bird-'))
afterAll(() => rmSync(directory, { recursive: true }))

/** The daemon itself looks at a configuration; it exits with an error when it refuses it. */
const look = (text: string | null): void => {
  const file = join(directory, 'bird.conf')
  writeFileSync(file, text ?? '')
  execFileSync('/usr/sbin/bird', ['-p', '-c', file])
}

describe('renderBgp', () => {
  it.each(Object.entries(NAMED_SETTINGS))('%s', async (name, settings) => {
    const text = renderBgp(settings, place)
    await expect(text).toMatchFileSnapshot(`testdata/${name}.bgp.conf`)
    look(text)
  })

  it('gives the same text whatever the order of peers and advertisements', () => {
    const settings = NAMED_SETTINGS.everything as BgpSettings
    const turned = {
      ...settings,
      peers: settings.peers.toReversed(),
      advertisements: settings.advertisements.toReversed(),
    }
    expect(renderBgp(turned, place)).toBe(renderBgp(settings, place))
  })
})

describe('renderBfd', () => {
  const found = new Map([['unnumbered', 'fe80::2']])

  it.each(['everything', 'unnumbered'])('%s', async (name) => {
    const text = renderBfd(NAMED_SETTINGS[name]!, place, found)
    await expect(text).toMatchFileSnapshot(`testdata/${name}.bfd.conf`)
    look(text)
  })

  it('is null if no peer uses BFD', () => {
    expect(renderBfd(NAMED_SETTINGS.plain!, place, new Map())).toBeNull()
  })

  it('leaves out an unnumbered neighbour that is not found yet', () => {
    expect(renderBfd(NAMED_SETTINGS.unnumbered!, place, new Map())).not.toContain('neighbor')
  })
})
