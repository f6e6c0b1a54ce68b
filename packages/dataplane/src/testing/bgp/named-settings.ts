import type { BgpPeerSettings, BgpSettings } from '@spout/model/node-state'
import type { BirdPlace } from '../../announcers/bgp/render-bgp.ts'

const peer = (id: string, own: Partial<BgpPeerSettings>): BgpPeerSettings => ({
  id,
  address: '10.9.0.254',
  port: 179,
  as: 64_500,
  sourceAddress: null,
  hops: 1,
  md5Secret: null,
  holdTimeS: 9,
  keepaliveTimeS: 3,
  connectRetryS: 2,
  families: ['ipv4', 'ipv6'],
  bfd: null,
  gracefulRestartS: 30,
  prefixLimit: 100,
  ...own,
})

const plainAdvertisement = {
  number: 1,
  communities: [],
  localPreference: null,
  med: null,
  aggregateLength4: null,
  aggregateLength6: null,
  peerIds: null,
}

const plain: BgpSettings = {
  routerId: '10.9.0.1',
  localAs: 64_512,
  peers: [peer('top-of-rack-1', {})],
  advertisements: [plainAdvertisement],
  drain: 'none',
}

const everything: BgpSettings = {
  ...plain,
  localAs: 4_200_000_001,
  peers: [
    peer('b-far', {
      address: '10.99.0.1',
      port: 1179,
      sourceAddress: '10.9.0.1',
      hops: 3,
      families: ['ipv4'],
      bfd: { minTransmitMs: 300, minReceiveMs: 300, multiplier: 3 },
      gracefulRestartS: null,
    }),
    peer('a-near', {
      address: 'fd09::fe',
      ttlSecurity: true,
      md5Secret: "it's ; } a #secret\\",
      bfd: { minTransmitMs: 10, minReceiveMs: 10, multiplier: 3 },
    }),
    peer('c-link-local', { address: 'fe80::1', as: 4_200_000_001, families: ['ipv6'] }),
  ],
  advertisements: [
    { ...plainAdvertisement, number: 7, communities: ['64512:7', '4200000001:1:7'], localPreference: 200, med: 50 },
    { ...plainAdvertisement, number: 2, communities: ['65535:65281'], peerIds: ['b-far'] },
    { ...plainAdvertisement, number: 1_000, aggregateLength4: 24, peerIds: [] },
  ],
}

/** Settings whose configurations are goldens, and which the daemon itself looks at in the lab. */
export const NAMED_SETTINGS: Readonly<Record<string, BgpSettings>> = {
  plain,
  everything,
  unnumbered: {
    ...plain,
    peers: [peer('unnumbered', { address: null, bfd: { minTransmitMs: 80, minReceiveMs: 80, multiplier: 3 } })],
  },
  'prefer-others': { ...everything, drain: 'prefer-others' },
  withdrawn: { ...plain, drain: 'withdrawn' },
  'no-peers': { ...plain, peers: [], advertisements: [] },
}

export const place: BirdPlace = {
  logFile: '/run/spout/bgp/log',
  fabricInterface: 'fab0',
  table: 7200,
  listenPort: 179,
}
