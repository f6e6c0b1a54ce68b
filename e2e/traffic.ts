import type { Caller, HeldConnection, Outcome, ShownLoadBalancer } from '@spout/testkit'
import { expect } from 'vitest'
import { vipOf } from './fixtures.ts'

/** Connections through a load balancer that stay open, each from its own port. */
export const holdSome = (client: Caller, shown: ShownLoadBalancer, count: number): Promise<readonly HeldConnection[]> =>
  Promise.all(Array.from({ length: count }, () => client.hold(vipOf(shown), 80)))

/**
 * What a connection that goes on may take to answer. Packets lost while a node takes over are sent again after 0.2, 0.6, 1.4, 3
 * and 6.2 s in all: two seconds would be over before the fourth.
 */
export const PATIENCE_MS = 10_000

/** Expects that every connection still works. */
export async function expectAlive(held: readonly HeldConnection[]): Promise<void> {
  const said = await Promise.all(held.map((connection, index) => connection.say(`still there ${index}`, PATIENCE_MS)))
  expect(said.filter((outcome) => !outcome.ok)).toEqual([])
}

export const dropAll = (held: readonly HeldConnection[]): Promise<unknown> => Promise.all(held.map((one) => one.drop()))

/** Requests that were not answered with 200. */
export const failuresOf = (outcomes: readonly Outcome<{ readonly status: number }>[]) =>
  outcomes.filter((outcome) => !outcome.ok || outcome.value.status !== 200)
