import { silentLogger, type Timer } from '@spout/runtime'
import { FakeClock } from '@spout/runtime/fake-clock'
import { waitFor } from '@spout/testkit'
import { expect, it } from 'vitest'
import { FakeApiServer } from '../testing/fake-api-server.ts'
import { Transport } from '../transport/transport.ts'
import {
  CONFIG_MAPS,
  ENDPOINT_SLICES,
  EVENTS,
  INGRESS_CLASSES,
  INGRESSES,
  LEASES,
  NAMESPACES,
  NODES,
  objectPath,
  type Resource,
  SECRETS,
  SERVICES,
} from '../types/index.ts'
import { Reflector } from './reflector.ts'

const WATCH_SECONDS = 300
/** Less than a watch is asked for, more than any other bound of ours. */
const QUIET_MS = 290_000

/**
 * Knows which timers were set: one for a whole watch before it is asked for, and one of its silence once its head came.
 */
class LookedAtClock extends FakeClock {
  readonly delaysMs: number[] = []
  override setTimer(callback: () => void, delayMs: number): Timer {
    this.delaysMs.push(delayMs)
    return super.setTimer(callback, delayMs)
  }
}

/** A kind that the cluster was taught, as those of Gateway API and our own. */
const CUSTOM: Resource = { apiVersion: 'example.org/v1', kind: 'Thing', plural: 'things', namespaced: true }

const KINDS: readonly Resource[] = [
  ...[CONFIG_MAPS, ENDPOINT_SLICES, EVENTS, INGRESS_CLASSES, INGRESSES, LEASES, NAMESPACES, NODES, SECRETS, SERVICES],
  CUSTOM,
]

it.each(KINDS)('keeps its watch on a cluster without changes: $plural', async (resource) => {
  const server = await FakeApiServer.start()
  const clock = new LookedAtClock()
  const transport = new Transport({ access: server.access, clock })
  const reflector = new Reflector({
    ...{ transport, clock, log: silentLogger(), resource, random: () => 0, watchSeconds: WATCH_SECONDS },
    trim: (object) => object.metadata.name,
  })
  const told: string[] = []
  reflector.onChange((key) => told.push(key))
  try {
    reflector.start()
    const long = () => clock.delaysMs.filter((delayMs) => delayMs > WATCH_SECONDS * 1000)
    await waitFor(() => long().length === 2, { what: 'the head' })
    await clock.advance(QUIET_MS)
    expect(server.requests.filter(({ query }) => query['watch'] !== undefined)).toHaveLength(1)
    // What happens then is told by the same watch.
    const name = { name: 'late', ...(resource.namespaced && { namespace: 'a' }) }
    server.put(resource, { metadata: name })
    await waitFor(() => told.length > 0, { what: `${objectPath(resource, name)} to be told` })
    expect(server.requests.filter(({ query }) => query['watch'] !== undefined)).toHaveLength(1)
  } finally {
    await reflector.close()
    transport.close()
    await server.stop()
  }
})
