import type { GroupEntry } from '@spout/model/node-state'
import { expect, it } from 'vitest'
import type { GroupFollower, GroupReport } from '../contracts/group-follower.ts'
import { GroupMembership } from './group-membership.ts'

const signal = new AbortController().signal
const entry = { kind: 'group', key: 'group', version: 1, vrrp: null, bgp: null, flows: null } satisfies GroupEntry

/** A follower that records its calls, and yields to others before it is done. */
function recorded(done: string[], name: string, refusal?: string): GroupFollower {
  return {
    follow: async (given) => {
      done.push(`${name} begins${given === null ? ' to end' : ''}`)
      await new Promise(setImmediate)
      if (refusal !== undefined) throw new Error(refusal)
      done.push(`${name} follows`)
    },
    close: async () => {
      done.push(`${name} closes`)
    },
  }
}

it('has the first ready before any other begins', async () => {
  const done: string[] = []
  const part = new GroupMembership({
    first: [recorded(done, 'a')],
    followers: [recorded(done, 'b'), recorded(done, 'c')],
  })
  await part.follow(entry, signal)
  expect(done).toEqual(['a begins', 'a follows', 'b begins', 'c begins', 'b follows', 'c follows'])
})

it('lets one that refuses stop no other, and says what each refused', async () => {
  const done: string[] = []
  const part = new GroupMembership({
    first: [recorded(done, 'a', 'a is not there')],
    followers: [recorded(done, 'b', 'b has no address'), recorded(done, 'c')],
  })
  await expect(part.follow(null, signal)).rejects.toThrow('a is not there; b has no address')
  expect(done).toEqual(['a begins to end', 'b begins to end', 'c begins to end', 'c follows'])
})

it('closes them in the opposite order', async () => {
  const done: string[] = []
  const part = new GroupMembership({
    first: [recorded(done, 'a')],
    followers: [recorded(done, 'b'), recorded(done, 'c')],
  })
  await part.close()
  expect(done).toEqual(['c closes', 'b closes', 'a closes'])
})

it('tells what all of them have to tell, until nobody listens', async () => {
  const listeners = new Set<(report: GroupReport) => void>()
  const silent = recorded([], 'silent')
  const one: GroupFollower = {
    ...silent,
    report: async () => ({ shards: [] }),
    onReport: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  const other: GroupFollower = { ...silent, report: async () => ({ departure: null }) }
  const part = new GroupMembership({ first: [other], followers: [one, silent] })
  expect(await part.report()).toEqual({ shards: [], departure: null })
  const told: GroupReport[] = []
  const end = part.onReport((report) => told.push(report))
  for (const listener of listeners) listener({ sights: [] })
  expect(told).toEqual([{ sights: [] }])
  end()
  expect(listeners.size).toBe(0)
})
