import type { BgpAnnouncer } from '../../announcers/bgp/bgp-announcer.ts'
import type { AnnouncerLab } from '../announcer-conformance.ts'
import { announcement, BgpLab, neighborOf, settingsOf, VIP_PORT } from './bgp-lab.ts'

/** The announcer on one node; the client looks for an address through the router. */
export async function bgpAnnouncerLab(): Promise<AnnouncerLab> {
  const lab = await BgpLab.create(1)
  let announcer: BgpAnnouncer | null = null
  try {
    await lab.startRouter([neighborOf(1)])
  } catch (error) {
    await lab[Symbol.asyncDispose]()
    throw error
  }
  return {
    announcements: ['192.0.2.1', '192.0.2.2', '2001:db8::1', '2001:db8::2'].map((address) => announcement(address)),
    // There is no such advertisement.
    refused: announcement('192.0.2.3', 9),
    restart: async () => {
      announcer = await lab.announcer(1)
      await announcer.configure(settingsOf(1), new AbortController().signal)
      return announcer
    },
    isFound: async ({ address }) =>
      (await lab.router.nextHops(`${address}/${address.includes(':') ? 128 : 32}`)).length > 0 &&
      (await lab.client.connect(address, VIP_PORT)).startsWith('node1'),
    meddle: async ({ address }) => {
      await lab.run('node1', `ip ${address.includes(':') ? '-6' : '-4'} route delete blackhole ${address} table 7200`)
    },
    changes: () => {
      const { changes = 0, starts = 0, reconfigurations = 0 } = announcer?.counters ?? {}
      return changes + starts + reconfigurations
    },
    end: () => lab[Symbol.asyncDispose](),
  }
}
