import { type Clock, systemClock } from '@spout/runtime'
import { FakeClock } from '@spout/runtime/fake-clock'
import { expect, test } from 'vitest'
import { CallsTogether, type Outcome } from './calls-together.ts'

class Malformed extends Error {}

/** Calls that wait for an answer, by their items. */
function recording(most = { items: 3, bytes: 100 }, clock: Clock = systemClock) {
  const calls: string[] = []
  const answers: (() => void)[] = []
  const answered = async <T>(what: string, answer: () => T): Promise<T> => {
    calls.push(what)
    await new Promise<void>((resolve) => answers.push(resolve))
    return answer()
  }
  const outcome = (item: string): Outcome<string> =>
    item.startsWith('bad') ? { error: new Error(`no ${item}`) } : { value: `did ${item}` }
  const together = new CallsTogether<string, string>({
    one: (item) =>
      answered(item, () => {
        const one = outcome(item)
        if ('error' in one) throw one.error
        return one.value
      }),
    many: (items) =>
      answered(items.join('+'), () => {
        if (items.includes('malformed')) throw new Malformed()
        if (items.includes('away')) throw new Error('unreachable')
        return items.map(outcome)
      }),
    isAboutContent: (error) => error instanceof Malformed,
    bytesOf: (item) => (item === 'big' ? 90 : 10),
    most,
    clock,
  })
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
  const answer = async () => {
    answers.shift()?.()
    await turn()
    await turn()
  }
  return { calls, together, turn, answer }
}

test('items of one turn, and items during two calls, share a call', async () => {
  const { calls, together, turn, answer } = recording()
  const all = [together.ask('a')]
  await turn()
  all.push(...['b', 'c'].map((item) => together.ask(item)))
  await turn()
  all.push(...['d', 'e', 'f', 'g'].map((item) => together.ask(item)))
  await turn()
  expect(calls).toEqual(['a', 'b+c'])
  for (let at = 0; at < 4; at++) await answer()
  expect(calls).toEqual(['a', 'b+c', 'd+e+f', 'g'])
  expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((item) => `did ${item}`))
})

test('each item has its own result', async () => {
  const { together, turn, answer } = recording()
  const all = Promise.allSettled(['a', 'bad', 'c'].map((item) => together.ask(item)))
  await turn()
  await answer()
  expect((await all).map((one) => (one.status === 'fulfilled' ? one.value : String(one.reason)))).toEqual([
    'did a',
    'Error: no bad',
    'did c',
  ])
})

test('an item that fails the whole call is refused alone; without an answer all fail', async () => {
  const { calls, together, turn, answer } = recording()
  const some = Promise.allSettled(['a', 'malformed'].map((item) => together.ask(item)))
  await turn()
  for (let at = 0; at < 3; at++) await answer()
  expect(calls).toEqual(['a+malformed', 'a', 'malformed'])
  expect((await some).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
  const none = Promise.allSettled(['a', 'away'].map((item) => together.ask(item)))
  await turn()
  await answer()
  expect((await none).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})

test('a call stays below its size limit', async () => {
  const { calls, together, turn, answer } = recording()
  const all = ['big', 'a', 'big', 'b'].map((item) => together.ask(item))
  await turn()
  for (let at = 0; at < 3; at++) await answer()
  expect(calls).toEqual(['big+a', 'big+b'])
  await Promise.all(all)
})

test('a patient item waits for others until the call is full, its time is over or an urgent item comes', async () => {
  const clock = new FakeClock()
  const { calls, together, turn, answer } = recording({ items: 3, bytes: 1000 }, clock)
  const all = ['a', 'b'].map((item) => together.ask(item, 100))
  await turn()
  expect(calls).toEqual([])
  all.push(together.ask('c', 100))
  await turn()
  expect(calls).toEqual(['a+b+c'])
  await answer()
  all.push(together.ask('d', 100))
  await clock.advance(99)
  await turn()
  expect(calls).toHaveLength(1)
  await clock.advance(1)
  await turn()
  expect(calls).toEqual(['a+b+c', 'd'])
  await answer()
  all.push(together.ask('e', 100), together.ask('f'))
  await turn()
  expect(calls).toEqual(['a+b+c', 'd', 'e+f'])
  await answer()
  await Promise.all(all)
})
