import type { AnnouncerLab } from '../announcer-conformance.ts'
import { Arrangement } from '../arrangement.ts'
import { domainEntry } from '../entries.ts'
import { segmentLab } from '../segment-lab.ts'
import { pairSettings, VrrpNode } from './vrrp-node.ts'

/** The announcer on node1 of an arrangement, whose peer is not there; hosts look on the fabric and on the tenant's segment. */
export async function vrrpLab(): Promise<AnnouncerLab> {
  const signal = new AbortController().signal
  const red = domainEntry(1)
  const arrangement = await Arrangement.create()
  const node = new VrrpNode(arrangement, 'node1')
  const settings = pairSettings(1)
  const restart = async () => {
    const announcer = await node.startAgent()
    await announcer.configure(settings, signal)
    return announcer
  }
  const end = async () => {
    await node.end([red.number])
    await arrangement[Symbol.asyncDispose]()
  }
  try {
    await restart()
    await node.addDomain(red)
  } catch (error) {
    await end()
    throw error
  }
  return {
    ...segmentLab(arrangement, [
      { via: 'vrrp', shard: 1 },
      { via: 'vrrp', shard: 2 },
    ]),
    restart,
    changes: () => node.announcer.counters.changes,
    end,
  }
}
