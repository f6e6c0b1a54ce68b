import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'

// Issue 20: a reader who knows the field but not this code follows it without help, so it stays two pages.
const MOST_WORDS = 2350

const textOf = (file: string): string => readFileSync(path.resolve(import.meta.dirname, '../..', file), 'utf8')

/** The functions that carry a change, in their order, and the file that the reader is led to for each. */
const HOPS = {
  changeLoadBalancer: 'packages/admission/src/contract/load-balancer-admission.ts',
  changeMembers: 'packages/admission/src/load-balancers/load-balancers.ts',
  commit: 'packages/store/src/sqlite/sqlite-store.ts',
  onChange: 'packages/admission/src/view/store-view.ts',
  route: 'packages/controllers/src/planning/change-router.ts',
  planLoadBalancer: 'packages/plan/src/node-state/plan-load-balancer.ts',
  set: 'packages/controllers/src/node-states/node-state-table.ts',
  run: 'packages/server/src/link/state-stream.ts',
  make: 'packages/agent/src/ordered-changes.ts',
}

it('the functions that ARCHITECTURE.md follows a change through are those of the code', () => {
  const [, chain = ''] = textOf('ARCHITECTURE.md').split('Eight functions carry a change')
  expect([...chain.split('To follow one change')[0]!.matchAll(/`(\w+)`/g)].map(([, name]) => name)).toEqual([
    ...Object.keys(HOPS),
  ])
  const missing = Object.entries(HOPS).filter(
    ([name, file]) => !new RegExp(String.raw`^(?: +(?:async )?#?|export function )${name}\(`, 'm').test(textOf(file)),
  )
  expect(missing).toEqual([])
})

it('ARCHITECTURE.md stays two pages', () => {
  const text = textOf('ARCHITECTURE.md')
  const shown = text.replaceAll(/\]\([^)]*\)/g, ']').split(/\s+/)
  expect(shown.length).toBeLessThanOrEqual(MOST_WORDS)
})
