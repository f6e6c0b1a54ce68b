import { recordFault } from '@spout/testkit'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Asker, FairTurns } from './fair-turns.ts'
import { LOCAL_ADDRESS } from './login-source.ts'

const LIMITS = { maxRunning: 1, maxWaiting: 16, maxWaitingOfSource: 12, maxWaitingOfUser: 4 }

/** Turns of which one is taken, so that all others wait until `open`. */
function busy(limits = LIMITS) {
  const turns = new FairTurns(limits)
  const { promise, resolve: open } = Promise.withResolvers<void>()
  const served: string[] = []
  const refused: string[] = []
  const done: Promise<unknown>[] = [turns.run({ user: 'first', source: 'first' }, () => promise)]
  const ask = ({ user, source }: Asker) => {
    const run = turns.run({ user, source }, async () => void served.push(`${user}@${source}`))
    done.push(run.catch((error: { readonly code: string }) => refused.push(`${user}@${source} ${error.code}`)))
  }
  const finish = async () => {
    open()
    await Promise.all(done)
    return { served, refused }
  }
  return { ask, finish }
}

describe('FairTurns', () => {
  test('a single request waits for one of each source, not for all that another queued', async () => {
    const { ask, finish } = busy({ ...LIMITS, maxWaitingOfUser: 12 })
    for (let time = 0; time < 12; time++) ask({ user: 'greedy', source: 'a' })
    ask({ user: 'ann', source: 'b' })
    const { served } = await finish()
    expect(served.indexOf('ann@b')).toBe(1)
    recordFault({
      fault: 'a user piles up logins',
      outcome: 'another source waits for one of them',
      figure: `turn ${served.indexOf('ann@b') + 1} of ${served.length}`,
    })
  })

  test('at one source the users take turns', async () => {
    const { ask, finish } = busy()
    for (let time = 0; time < 4; time++) ask({ user: 'greedy', source: 'a' })
    ask({ user: 'ann', source: 'a' })
    expect((await finish()).served.indexOf('ann@a')).toBe(1)
  })

  test('a full queue has room for a source with fewer in it; the longest gives way', async () => {
    const { ask, finish } = busy()
    for (let user = 0; user < 12; user++) ask({ user: `u${user}`, source: 'a' })
    for (let user = 0; user < 4; user++) ask({ user: `u${user}`, source: 'b' })
    ask({ user: 'ann', source: 'c' })
    const { served, refused } = await finish()
    expect(served).toContain('ann@c')
    expect(refused).toEqual(['u0@a Unavailable'])
  })

  test('a user and a source have a limited share of the queue', async () => {
    const { ask, finish } = busy()
    for (let time = 0; time < 5; time++) ask({ user: 'greedy', source: 'a' })
    for (let user = 0; user < 9; user++) ask({ user: `u${user}`, source: 'a' })
    expect((await finish()).refused).toEqual(['greedy@a Unavailable', 'u8@a Unavailable'])
  })

  test('callers on the machine itself come first', async () => {
    const { ask, finish } = busy()
    for (let user = 0; user < 6; user++) ask({ user: `u${user}`, source: 'a' })
    ask({ user: 'admin', source: LOCAL_ADDRESS })
    expect((await finish()).served[0]).toBe(`admin@${LOCAL_ADDRESS}`)
  })

  test('every request is served or refused exactly once, and never too many run', async () => {
    const asker = fc.record({ user: fc.constantFrom('a', 'b', 'c'), source: fc.constantFrom('x', 'y', LOCAL_ADDRESS) })
    await fc.assert(
      fc.asyncProperty(fc.array(asker, { maxLength: 60 }), async (askers) => {
        const turns = new FairTurns({ ...LIMITS, maxRunning: 2 })
        let running = 0
        const results = await Promise.allSettled(
          askers.map((each) =>
            turns.run(each, async () => {
              running++
              expect(running).toBeLessThanOrEqual(2)
              await Promise.resolve()
              running--
            }),
          ),
        )
        for (const result of results)
          if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'Unavailable' })
        expect(running).toBe(0)
        // If a turn had not been given back, this would wait for ever.
        await turns.run({ user: 'last', source: 'z' }, async () => {})
      }),
    )
  })
})
