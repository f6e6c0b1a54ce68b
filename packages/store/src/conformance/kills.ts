import { expect, vi } from 'vitest'
import type { Revision, Store } from '../store.ts'
import { codeOf, put } from './subject.ts'

const WRITERS = 8
const PATIENCE = { timeout: 60_000, interval: 20 }

export const writable = (store: Store): Promise<void> =>
  vi.waitFor(() => expect(store.health()).toEqual({ writable: true, reason: null }), PATIENCE)

/** What each object was, one value after the other. */
export async function logOf(store: Store, from: Revision): Promise<ReadonlyMap<string, readonly number[]>> {
  const values = new Map<string, number[]>()
  for await (const change of store.watch({ from, signal: new AbortController().signal })) {
    if (change.type !== 'put') break
    const { id, value } = change.object
    values.set(id, [...(values.get(id) ?? []), value as number])
  }
  return values
}

export interface Kills {
  readonly count: number
  /** So many commits are acknowledged before each kill. */
  readonly commits: number
  /** Takes the server away in the middle of commits. */
  readonly kill: () => Promise<void>
  /** Brings it back. */
  readonly resume: () => Promise<void>
  /** The same store, opened once more. */
  readonly again: () => Promise<Store>
}

/**
 * Kills a store's server again and again under writers: what was acknowledged is stored, in order and once, and what was
 * refused is not.
 */
export async function expectNothingLost(store: Store, { count, commits, kill, resume, again }: Kills): Promise<void> {
  const from = await store.revision()
  const acknowledged = new Map<string, number[]>()
  const codes = new Set<string>()
  let accepted = 0
  let ending = false
  const writer = async (id: string): Promise<void> => {
    const mine: number[] = []
    acknowledged.set(id, mine)
    for (let n = 0; !ending; n++) {
      const code = await codeOf(store.commit([put(id, n), put(`${id}-too`, n)]))
      codes.add(code)
      if (code === 'accepted') {
        mine.push(n)
        accepted++
      } else await writable(store)
    }
  }
  const writers = Array.from({ length: WRITERS }, (_, n) => writer(`w${n}`))
  for (let number = 0; number < count; number++) {
    const before = accepted
    await vi.waitFor(() => expect(accepted).toBeGreaterThan(before + commits), PATIENCE)
    await kill()
    await vi.waitFor(() => expect(store.health().writable).toBe(false), PATIENCE)
    // Those of the writers may all be among what was under way.
    expect(await codeOf(store.commit([put('refused', number)]))).toBe('StoreUnavailable')
    await resume()
    await writable(store)
  }
  ending = true
  await Promise.all(writers)
  for (const code of codes) expect(['StoreUnavailable', 'accepted']).toContain(code)
  const log = await logOf(await again(), from)
  for (const [id, values] of acknowledged) {
    expect(log.get(id)).toEqual(values)
    expect(log.get(`${id}-too`)).toEqual(values)
  }
  expect(log.has('refused')).toBe(false)
  // The store that lived through it has seen the same.
  expect(await logOf(store, from)).toEqual(log)
}
