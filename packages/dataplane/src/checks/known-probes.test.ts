import type { CheckSpec } from '@spout/model'
import type { NodePool } from '@spout/model/node-state'
import { expect, it } from 'vitest'
import { domainEntry, member, pool, wanted } from '../testing/entries.ts'
import { KnownProbes } from './known-probes.ts'
import { probesOf } from './probe-plan.ts'

const check: CheckSpec = { type: 'tcp', intervalMs: 1_000, timeoutMs: 500, rise: 2, fall: 2, http: null }
const checked = (number: number, port = 80): NodePool =>
  pool(number, [member(`m${number}`, '10.0.0.1', { checkPort: port })], { check })
const many = Array.from({ length: 100 }, (_, at) => checked(at + 1))

it('keeps the probes of each of many pools until the pool is another one', () => {
  const known = new KnownProbes()
  const entry = wanted('shop', domainEntry(1), { pools: many }).entry
  const first = known.of(entry, null)
  expect(first).toEqual(probesOf(entry, null))
  const changed = { ...entry, pools: many.with(50, checked(51, 81)) }
  const next = known.of(changed, null)
  expect(next).toEqual(probesOf(changed, null))
  expect(next.flatMap((one, at) => (one === first[at] ? [] : [at]))).toEqual([50])
  for (const moved of [{ ...changed, domain: 2 }, changed])
    expect(known.of(moved, 'project')).toEqual(probesOf(moved, 'project'))
})

it('keeps nothing of an entry with few pools', () => {
  const known = new KnownProbes()
  const entry = wanted('shop', domainEntry(1), { pools: many.slice(0, 2) }).entry
  expect(known.of(entry, null)).toEqual(probesOf(entry, null))
  expect(known.of(entry, null)[0]).not.toBe(known.of(entry, null)[0])
})
