import type { SpoutError } from '@spout/model'
import { FakeClock } from '@spout/runtime/fake-clock'
import { expect, test } from 'vitest'
import { OpenStreams } from './open-streams.ts'
import { RequestShares } from './request-shares.ts'

const codeOf = (opening: Promise<unknown>): Promise<string> =>
  opening.then(
    () => 'opened',
    (error: SpoutError) => error.code,
  )

test('open watches per project are limited; a closed one makes room, and other projects have their own', async () => {
  const streams = new OpenStreams({ mostOfProject: 2, mostBytesOfProject: 100 })
  const first = await streams.open('a')
  await streams.open('a')
  expect(await codeOf(streams.open('a'))).toBe('TooManyRequests')
  expect(await codeOf(streams.open('b'))).toBe('opened')
  first.close()
  expect(await codeOf(streams.open('a'))).toBe('opened')
})

test('a watch too many is refused as late as a request that waited in vain, and one a round', async () => {
  const clock = new FakeClock()
  const shares = new RequestShares({ clock, perSecond: 10, burst: 10 })
  const limits = { mostOfProject: 1, mostBytesOfProject: 100 }
  const streams = new OpenStreams({ ...limits, refuse: (error) => shares.refuse(() => error) })
  await streams.open('a')
  const refused: string[] = []
  for (let n = 0; n < 3; n++) void codeOf(streams.open('a')).then((code) => refused.push(code))
  await clock.advance(999)
  expect(refused).toEqual([])
  await clock.advance(1)
  const counts: number[] = []
  while (refused.length < 3) {
    await new Promise((resolve) => setImmediate(resolve))
    counts.push(refused.length)
  }
  expect(counts.every((count, at) => count - (counts[at - 1] ?? count) <= 1)).toBe(true)
  expect(refused).toEqual(Array(3).fill('TooManyRequests'))
  shares.close()
})

test("bytes buffered for a project's readers are summed; a closed reader no longer counts", async () => {
  const streams = new OpenStreams({ mostOfProject: 5, mostBytesOfProject: 100 })
  const [slow, other, stranger] = await Promise.all(['a', 'a', 'b'].map((project) => streams.open(project)))
  expect(slow!.holds(80)).toBe(true)
  expect(other!.holds(30)).toBe(false)
  expect(stranger!.holds(90)).toBe(true)
  slow!.close()
  expect(other!.holds(30)).toBe(true)
  expect(slow!.holds(1)).toBe(false)
})

test('sent bytes are charged to the project', async () => {
  const sent: string[] = []
  const onSent = (project: string, bytes: number) => sent.push(`${project} ${bytes}`)
  const streams = new OpenStreams({ mostOfProject: 1, mostBytesOfProject: 1, onSent })
  ;(await streams.open('a')).sent(7)
  expect(sent).toEqual(['a 7'])
})
