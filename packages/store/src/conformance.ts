import { FakeClock } from '@spout/runtime/fake-clock'
import { afterEach, beforeEach, describe } from 'vitest'
import { describeCommits } from './conformance/commits.ts'
import { describeLeases } from './conformance/leases.ts'
import { describeLifetime } from './conformance/lifetime.ts'
import { describeReads } from './conformance/reads.ts'
import { type StoreFixture, type StoreSettings, type Subject, subjectOf } from './conformance/subject.ts'
import { describeWatches } from './conformance/watches.ts'

export type { StoreFixture, StoreSettings } from './conformance/subject.ts'

/**
 * The conformance suite of `Store`, run against one implementation.
 * @param make creates an empty store for each test
 */
export function describeStore(name: string, make: (settings: StoreSettings) => Promise<StoreFixture>): void {
  describe(`Store: ${name}`, () => {
    let fixture: StoreFixture
    let subject: Subject

    beforeEach(async () => {
      const clock = new FakeClock()
      fixture = await make({ bookmarkIntervalMs: 20, clock })
      subject = subjectOf(fixture, fixture.store, { ending: new AbortController(), clock })
    })
    afterEach(async () => {
      subject.ending.abort()
      await fixture.dispose()
    })

    const current = () => subject
    describeReads(current)
    describeCommits(current)
    describeWatches(current)
    describeLeases(current)
    describeLifetime(current)
  })
}
