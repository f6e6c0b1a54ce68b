import { type AddressRequest, BEGINS_MS, keyOf, type Progress, STAYS_AFTER_MS } from '@spout/connector'
import type { ObjectEvent, Service } from '@spout/kube'
import { FakeClock } from '@spout/runtime/fake-clock'
import { beforeEach, describe, expect, test } from 'vitest'
import { CONDITION_PROGRAMMED } from '../names.ts'
import { service } from '../testing/objects.ts'
import type { WrittenStatus } from '../write-back/status.ts'
import type { Cluster } from './cluster.ts'
import { StatusWriter } from './status-writer.ts'

const REQUEST: AddressRequest = { families: [{ family: 4, required: true, address: null }], pools: null }
const PROGRAMMED: Progress = { type: 'programmed', notice: null }
const waits = (reason: string): Progress => ({ type: 'pending', reason, message: 'm' })

/** One Service, with the status that was written last. */
class OneService {
  readonly clock = new FakeClock()
  readonly written: (readonly [ip: string | undefined, reason: string | undefined])[] = []
  readonly events: ObjectEvent[] = []
  readonly again: string[] = []
  isMass = false
  service: Service = service('web', {}, { resourceVersion: '5' })
  /**
   * Called while the answer to a write is on its way: what happens at the API server, and in the watch, in the
   * meantime.
   */
  meanwhile: () => void = () => {}
  /** The watch does not show what is written. */
  lags = false
  writer = this.#writer()

  /** The watch shows a status, at a version. */
  show(ip: string, version: number, reason = 'Programmed'): void {
    const status: Service['status'] = {
      loadBalancer: { ingress: [{ ip, ipMode: 'VIP' }] },
      conditions: [
        { type: CONDITION_PROGRAMMED, status: 'True', reason, message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
      ],
    }
    this.service = { ...service('web', {}, { resourceVersion: String(version) }), status }
    this.writer.seen(this.service)
  }

  async look(progress: Progress, addresses: readonly string[] = ['198.51.100.7']): Promise<void> {
    await this.writer.write({ service: this.service, request: REQUEST, addresses, ports: [], progress })
  }

  /** Restarts the controller with what the cluster shows. */
  restart(): void {
    this.writer.close()
    this.writer = this.#writer()
  }

  get told(): readonly string[] {
    return this.events.map(({ reason }) => reason)
  }

  #writer(): StatusWriter {
    const cluster: Pick<Cluster, 'service' | 'writeStatus' | 'tell'> = {
      service: (key) => (key === keyOf(this.service) ? this.service : undefined),
      writeStatus: async (_, { ingress, conditions }: WrittenStatus) => {
        this.written.push([ingress[0]?.ip, conditions[0]?.reason])
        const version = `${Number(this.service.metadata.resourceVersion) + 1}`
        if (!this.lags) {
          const metadata = { ...this.service.metadata, resourceVersion: version }
          this.service = { ...this.service, metadata, status: { loadBalancer: { ingress }, conditions } }
        }
        this.meanwhile()
        return version
      },
      tell: (_, event) => void this.events.push(event),
    }
    return new StatusWriter(
      cluster as Cluster,
      this.clock,
      (key) => this.again.push(key),
      () => this.isMass,
    )
  }
}

let one: OneService
beforeEach(() => {
  one = new OneService()
})

describe('a Service that waits for the nodes', () => {
  /** Looks at the Service again after the first moment, so that its status is written. */
  const lookUntilShown = async (...reasons: readonly string[]) => {
    await one.look(waits(reasons[0] ?? ''))
    await one.clock.advance(BEGINS_MS)
    for (const reason of reasons) await one.look(waits(reason))
    one.again.length = 0
  }

  test('and is programmed at once costs one write and one event, whatever it waited for', async () => {
    for (const reason of ['WaitingForPlan', 'WaitingForNode', 'WaitingForAnnouncement', 'NoOwner'])
      await one.look(waits(reason))
    await one.look(PROGRAMMED)
    await one.clock.advance(STAYS_AFTER_MS)
    expect(one.written).toEqual([['198.51.100.7', 'Programmed']])
    expect([one.told, one.again]).toEqual([['Programmed'], []])
  })

  test('for a moment shows its address, and costs a second write when it is programmed', async () => {
    await one.look(waits('WaitingForPlan'))
    await one.clock.advance(BEGINS_MS)
    expect(one.again).toEqual(['shop/web'])
    for (const reason of ['WaitingForNode', 'WaitingForAnnouncement', 'NoOwner']) await one.look(waits(reason))
    await one.look(PROGRAMMED)
    await one.clock.advance(STAYS_AFTER_MS)
    expect(one.written).toEqual([
      ['198.51.100.7', 'WaitingForNode'],
      ['198.51.100.7', 'Programmed'],
    ])
    expect([one.told, one.again]).toEqual([['Programmed'], ['shop/web']])
  })

  test('among many others costs one write, or is reported when its reason lasts', async () => {
    one.isMass = true
    await one.look(waits('WaitingForPlan'))
    await one.look(waits('WaitingForNode'))
    expect(one.written).toEqual([])
    await one.look(PROGRAMMED)
    expect(one.written).toEqual([['198.51.100.7', 'Programmed']])
    const other = new OneService()
    other.isMass = true
    await other.look(waits('WaitingForNode'))
    await other.clock.advance(BEGINS_MS)
    await other.look(waits('WaitingForNode'))
    expect(other.written).toEqual([])
    await other.clock.advance(STAYS_AFTER_MS)
    expect(other.again).toEqual(['shop/web'])
    await other.look(waits('WaitingForNode'))
    expect([other.written, other.told]).toEqual([[['198.51.100.7', 'WaitingForNode']], ['WaitingForNode']])
  })

  test('reports the first reason once if it lasts', async () => {
    await lookUntilShown('NodeDisconnected')
    await one.clock.advance(STAYS_AFTER_MS)
    expect(one.again).toEqual(['shop/web'])
    await one.look(waits('NodeDisconnected'))
    await one.look(waits('NodeDisconnected'))
    await one.clock.advance(STAYS_AFTER_MS)
    expect([one.written.length, one.told, one.again.length]).toEqual([1, ['NodeDisconnected'], 1])
  })

  test('writes and reports a later reason if it lasts', async () => {
    await lookUntilShown('WaitingForPlan', 'WaitingForNode')
    await one.clock.advance(STAYS_AFTER_MS)
    expect(one.again).toEqual(['shop/web'])
    await one.look(waits('WaitingForNode'))
    expect(one.written.map(([, reason]) => reason)).toEqual(['WaitingForPlan', 'WaitingForNode'])
    expect(one.told).toEqual(['WaitingForNode'])
  })

  test('shows another address at once', async () => {
    await lookUntilShown('WaitingForPlan')
    await one.look(waits('WaitingForNode'), ['198.51.100.8'])
    expect(one.written.at(-1)).toEqual(['198.51.100.8', 'WaitingForNode'])
  })

  test('reports at once that it no longer works', async () => {
    await one.look(PROGRAMMED)
    await one.look(waits('WaitingForPlan'))
    expect(one.written.map(([, reason]) => reason)).toEqual(['Programmed', 'WaitingForPlan'])
    expect(one.told).toEqual(['Programmed'])
  })

  test('is not reported again after a restart', async () => {
    await lookUntilShown('WaitingForNode')
    await one.clock.advance(STAYS_AFTER_MS)
    await one.look(waits('WaitingForNode'))
    one.restart()
    await one.look(waits('WaitingForNode'))
    await one.clock.advance(STAYS_AFTER_MS)
    expect([one.written.length, one.told, one.again.length]).toEqual([1, ['WaitingForNode'], 1])
  })
})

describe('that it works is reported', () => {
  const first = ['198.51.100.7']

  test('once for its address, whatever it waits for afterwards', async () => {
    await one.look(PROGRAMMED, first)
    expect(one.events).toEqual([
      {
        type: 'Normal',
        reason: 'Programmed',
        action: 'BalanceService',
        note: '198.51.100.7: the nodes that announce it serve it.',
      },
    ])
    await one.look(PROGRAMMED, first)
    // It waits again, for another port. The address stays, so it is not reported again.
    await one.look(waits('WaitingForNode'), first)
    await one.clock.advance(BEGINS_MS)
    await one.look(waits('WaitingForNode'), first)
    await one.look(PROGRAMMED, first)
    expect([one.written.length, one.told]).toEqual([3, ['Programmed']])
  })

  test('again for another address, and after it was reported as not working', async () => {
    await one.look(PROGRAMMED, ['198.51.100.7'])
    await one.look(PROGRAMMED, ['198.51.100.8'])
    await one.look({ type: 'failed', reason: 'NoNodeAvailable', message: 'm' }, ['198.51.100.8'])
    await one.look(PROGRAMMED, ['198.51.100.8'])
    expect(one.told).toEqual(['Programmed', 'Programmed', 'NoNodeAvailable', 'Programmed'])
    expect(one.events[1]?.note).toContain('198.51.100.8')
  })

  test('not after a restart, also when it waits meanwhile', async () => {
    one.show('198.51.100.7', 6)
    await one.look(PROGRAMMED)
    await one.look(waits('WaitingForNode'))
    await one.clock.advance(BEGINS_MS)
    await one.look(waits('WaitingForNode'))
    await one.look(PROGRAMMED)
    expect([one.written.map(([, reason]) => reason), one.told]).toEqual([
      ['Programmed', 'WaitingForNode', 'Programmed'],
      [],
    ])
  })

  test('not among many others: each event is a write', async () => {
    one.isMass = true
    await one.look(PROGRAMMED)
    one.isMass = false
    await one.look(PROGRAMMED)
    expect([one.written.length, one.told]).toEqual([1, []])
  })
})

test('a refusal is written and reported at once', async () => {
  await one.look({ type: 'refused', refusal: { reason: 'PoolNotFound', field: 'f', message: 'm' } }, [])
  expect([one.written, one.told]).toEqual([[[undefined, 'PoolNotFound']], ['PoolNotFound']])
})

describe('a watch that', () => {
  test('lags causes no second write, nor does an older version that it shows', async () => {
    one.lags = true
    await one.look(PROGRAMMED)
    one.show('198.51.100.6', 5)
    await one.look(PROGRAMMED)
    expect(one.written).toHaveLength(1)
  })

  test('is faster than the answer: what others wrote since is corrected', async () => {
    one.lags = true
    one.meanwhile = () => one.show('198.51.100.66', 7)
    await one.look(PROGRAMMED)
    one.meanwhile = () => {}
    await one.look(PROGRAMMED)
    expect(one.written.map(([ip]) => ip)).toEqual(['198.51.100.7', '198.51.100.7'])
  })
})

test('a status that a restored backup lost is written again', async () => {
  one.lags = true
  await one.look(PROGRAMMED)
  one.show('198.51.100.6', 3)
  await one.clock.advance(30_000)
  await one.look(PROGRAMMED)
  expect(one.written).toHaveLength(2)
})
