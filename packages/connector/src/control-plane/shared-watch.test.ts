import { EventEmitter, on } from 'node:events'
import type { LoadBalancer } from '@spout/model'
import { expect, test } from 'vitest'
import { uid } from '../testing/objects.ts'
import type { LoadBalancerEvent, ShownLoadBalancer } from './load-balancer-service.ts'
import { SharedWatch } from './shared-watch.ts'

const shown = (id: string, generation = 1): LoadBalancerEvent => ({
  type: 'shown',
  loadBalancer: { document: { id, generation } as LoadBalancer, status: {} as ShownLoadBalancer['status'] },
})
const [one, other] = [uid(1), uid(2)]

/** Watches that show what the test has them show, one after the other. */
function watches() {
  const opened: { readonly source: EventEmitter; readonly signal: AbortSignal }[] = []
  const watch = new SharedWatch(async function* (signal) {
    const source = new EventEmitter()
    opened.push({ source, signal })
    for await (const [event] of on(source, 'event', { signal, close: ['end'] })) yield event as LoadBalancerEvent
  })
  const show = (...events: readonly LoadBalancerEvent[]) => {
    for (const event of events) opened.at(-1)?.source.emit('event', event)
  }
  const follow = () => {
    const stop = new AbortController()
    const events = watch.follow(stop.signal)[Symbol.asyncIterator]()
    return { stop, next: async () => (await events.next()).value, end: () => events.return?.() }
  }
  return { opened, show, follow }
}

test('a follower that comes later gets what exists, and then the same events as the others', async () => {
  const { opened, show, follow } = watches()
  const early = follow()
  const first = early.next()
  show({ type: 'listing' }, shown(one), shown(other), { type: 'listed' }, shown(one, 2), { type: 'deleted', id: other })
  expect(await first).toEqual({ type: 'listing' })
  for (const event of [shown(one), shown(other), { type: 'listed' }, shown(one, 2), { type: 'deleted', id: other }])
    expect(await early.next()).toEqual(event)
  const late = follow()
  for (const event of [{ type: 'listing' }, shown(one, 2), { type: 'listed' }]) expect(await late.next()).toEqual(event)
  show(shown(one, 3))
  const [atEarly, atLate] = await Promise.all([early.next(), late.next()])
  expect(atEarly).toEqual(shown(one, 3))
  expect(atLate).toBe(atEarly)
  expect(opened).toHaveLength(1)
})

test('a follower that comes during the list gets the rest of it after what was shown', async () => {
  const { show, follow } = watches()
  const early = follow()
  const first = early.next()
  show({ type: 'listing' }, shown(one))
  await first
  expect(await early.next()).toEqual(shown(one))
  const late = follow()
  expect(await late.next()).toEqual({ type: 'listing' })
  show(shown(other), { type: 'listed' })
  for (const event of [shown(one), shown(other), { type: 'listed' }]) expect(await late.next()).toEqual(event)
})

test('it is closed once nobody follows, however followers leave, and opened again for the next', async () => {
  const { opened, show, follow } = watches()
  const [aborts, returns] = [follow(), follow()]
  const both = Promise.all([aborts.next(), returns.next()])
  show({ type: 'listing' })
  await both
  const waiting = aborts.next()
  aborts.stop.abort()
  await expect(waiting).rejects.toThrow('aborted')
  expect(opened[0]?.signal.aborted).toBe(false)
  await returns.end()
  expect(opened[0]?.signal.aborted).toBe(true)
  const next = follow()
  const listing = next.next()
  expect(opened).toHaveLength(2)
  show({ type: 'listing' })
  expect(await listing).toEqual({ type: 'listing' })
})

test('when it breaks, all followers learn why, and share the next one', async () => {
  const { opened, show, follow } = watches()
  const followers = [follow(), follow()]
  const begun = Promise.all(followers.map((each) => each.next()))
  show({ type: 'listing' }, shown(one))
  await begun
  opened[0]?.source.emit('error', new Error('cut'))
  for (const each of followers) {
    expect(await each.next()).toEqual(shown(one))
    await expect(each.next()).rejects.toThrow('cut')
  }
  const again = [follow(), follow()]
  const listing = Promise.all(again.map((each) => each.next()))
  show({ type: 'listing' })
  await listing
  expect(opened).toHaveLength(2)
  opened[1]?.source.emit('end')
  for (const each of again) expect(await each.next()).toBe(undefined)
})
