import { afterEach, beforeEach, describe } from 'vitest'
import { describeCommits } from './conformance/commits.ts'
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
      fixture = await make({ bookmarkIntervalMs: 20 })
      subject = subjectOf(fixture, fixture.store, new AbortController())
    })
    afterEach(async () => {
      subject.ending.abort()
      await fixture.dispose()
    })

    const current = () => subject
    describeReads(current)
    describeCommits(current)
    describeWatches(current)
    describeLifetime(current)
  })
}
