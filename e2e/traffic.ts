import type { Caller, HeldConnection, Outcome, ShownLoadBalancer } from '@spout/testkit'
import { expect } from 'vitest'
import { vipOf } from './fixtures.ts'

/** Connections through a load balancer that stay open, each from its own port. */
export const holdSome = (client: Caller, shown: ShownLoadBalancer, count: number): Promise<readonly HeldConnection[]> =>
  Promise.all(Array.from({ length: count }, () => client.hold(vipOf(shown), 80)))

/** Expects that every connection still works. */
export async function expectAlive(held: readonly HeldConnection[]): Promise<void> {
  const said = await Promise.all(held.map((connection, index) => connection.say(`still there ${index}`)))
  expect(said.filter((outcome) => !outcome.ok)).toEqual([])
}

export const dropAll = (held: readonly HeldConnection[]): Promise<unknown> => Promise.all(held.map((one) => one.drop()))

/** Requests that were not answered with 200. */
export const failuresOf = (outcomes: readonly Outcome<{ readonly status: number }>[]) =>
  outcomes.filter((outcome) => !outcome.ok || outcome.value.status !== 200)
