import type { BgpAdvertisement, BgpPeerSettings, BgpSettings } from '@spout/model/node-state'
import { codePoint } from '@spout/testkit/code-point'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NAMED_SETTINGS, place } from '../../testing/bgp/named-settings.ts'
import { BgpSettingsError, quoted } from './bird-text.ts'
import { checkBgpSettings } from './check-settings.ts'
import { renderBgp } from './render-bgp.ts'

const plain = NAMED_SETTINGS.plain!
const [peer] = plain.peers
const [advertisement] = plain.advertisements
const withPeer = (own: Partial<BgpPeerSettings>): BgpSettings => ({ ...plain, peers: [{ ...peer!, ...own }] })
const withAdvertisement = (own: Partial<BgpAdvertisement>): BgpSettings => ({
  ...plain,
  advertisements: [{ ...advertisement!, ...own }],
})

describe('checkBgpSettings', () => {
  it.each(Object.entries(NAMED_SETTINGS))('takes %s', (_, settings) => {
    expect(checkBgpSettings(settings)).toBe(settings)
  })

  it.each<[string, BgpSettings]>([
    ['routerId', { ...plain, routerId: 'fd09::1' }],
    ['routerId', { ...plain, routerId: '010.9.0.1' }],
    ['localAs', { ...plain, localAs: 0 }],
    ['localAs', { ...plain, localAs: 4_294_967_295 }],
    ['peers[0].id', withPeer({ id: 'a b' })],
    ['peers[0].address', withPeer({ address: '10.9.0.254; }' })],
    ['peers[0].port', withPeer({ port: 0 })],
    ['peers[0].as', withPeer({ as: 1.5 })],
    ['peers[0].sourceAddress', withPeer({ sourceAddress: 'fd09::1' })],
    ['peers[0].hops', withPeer({ hops: 256 })],
    ['peers[0].hops', withPeer({ address: null, hops: 2 })],
    ['peers[0].md5Secret', withPeer({ md5Secret: 'say "please"' })],
    ['peers[0].md5Secret', withPeer({ md5Secret: 'two\nlines' })],
    ['peers[0].md5Secret', withPeer({ md5Secret: 'x'.repeat(81) })],
    ['peers[0].md5Secret', withPeer({ md5Secret: '' })],
    ['peers[0].holdTimeS', withPeer({ holdTimeS: 2 })],
    ['peers[0].keepaliveTimeS', withPeer({ keepaliveTimeS: 10 })],
    ['peers[0].families', withPeer({ families: [] })],
    ['peers[0].bfd.multiplier', withPeer({ bfd: { minTransmitMs: 10, minReceiveMs: 10, multiplier: 0 } })],
    [
      'peers[0].sourceAddress',
      withPeer({ hops: 2, bfd: { minTransmitMs: 10, minReceiveMs: 10, multiplier: 3 }, sourceAddress: null }),
    ],
    ['peers[0].gracefulRestartS', withPeer({ gracefulRestartS: 4_096 })],
    ['peers[0].prefixLimit', withPeer({ prefixLimit: 0 })],
    ['peers[1].id', { ...plain, peers: [peer!, { ...peer!, address: '10.9.0.253' }] }],
    ['peers[1].address', { ...plain, peers: [peer!, { ...peer!, id: 'other' }] }],
    ['advertisements[0].number', withAdvertisement({ number: 1_001 })],
    ['advertisements[1].number', { ...plain, advertisements: [advertisement!, advertisement!] }],
    ['advertisements[0].communities[1]', withAdvertisement({ communities: ['1:1', '65536:1'] })],
    ['advertisements[0].communities[0]', withAdvertisement({ communities: ['1:01'] })],
    ['advertisements[0].med', withAdvertisement({ med: -1 })],
    ['advertisements[0].aggregateLength4', withAdvertisement({ aggregateLength4: 7 })],
    ['advertisements[0].peerIds[0]', withAdvertisement({ peerIds: ['nobody'] })],
  ])('names %s', (field, settings) => {
    const refusal = (() => {
      try {
        checkBgpSettings(settings)
      } catch (error) {
        return error
      }
    })()
    expect(refusal).toBeInstanceOf(BgpSettingsError)
    expect(refusal).toMatchObject({ field, message: expect.stringMatching(/ (is|holds) /) })
  })

  it('never repeats a secret', () => {
    expect(() => checkBgpSettings(withPeer({ md5Secret: 'geheim"' }))).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('geheim') }),
    )
  })
})

describe('quoted', () => {
  it('keeps a text within its quotation marks or refuses it', () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoint }), (text) => {
        try {
          expect(quoted('x', text)).toMatch(/^"[\x20\x21\x23-\x7e]*"$/)
        } catch (error) {
          expect(error).toBeInstanceOf(BgpSettingsError)
        }
      }),
    )
  })

  it('lets a secret change nothing of a configuration but itself', () => {
    const text = renderBgp(withPeer({ md5Secret: 'MARK' }), place)
    fc.assert(
      fc.property(fc.stringMatching(/^[\x20\x21\x23-\x7e]{1,80}$/), (md5Secret) => {
        expect(renderBgp(checkBgpSettings(withPeer({ md5Secret })), place)).toBe(text.replace('MARK', () => md5Secret))
      }),
    )
  })
})
