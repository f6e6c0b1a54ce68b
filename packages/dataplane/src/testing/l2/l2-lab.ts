import type { AnnouncerLab } from '../announcer-conformance.ts'
import { Arrangement } from '../arrangement.ts'
import { domainEntry } from '../entries.ts'
import { LabNode } from '../lab-node.ts'
import { segmentLab } from '../segment-lab.ts'

/** The announcer on node1 of an arrangement; the client looks on the fabric, a tenant's host on the tenant's segment. */
export async function l2Lab(): Promise<AnnouncerLab> {
  const signal = new AbortController().signal
  const red = domainEntry(1)
  const arrangement = await Arrangement.create()
  let node: LabNode | null = null
  const restart = async () => {
    await node?.die()
    node = await LabNode.start(arrangement, 'node1')
    return node
  }
  const end = async () => {
    await node?.end([red.number])
    await arrangement[Symbol.asyncDispose]()
  }
  try {
    const { domains } = await restart()
    await domains.adopt([])
    await domains.apply({ put: [red], remove: [] }, signal)
  } catch (error) {
    await end()
    throw error
  }
  return {
    ...segmentLab(arrangement, [{ via: 'l2' }]),
    restart: async () => (await restart()).announcer,
    changes: () => node?.announcer.counters.changes ?? 0,
    keepsStrangers: true,
    end,
  }
}
