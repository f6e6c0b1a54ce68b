import type { LogTroubleReport, OverShareReport } from '@spout/model'

/** Domains whose share is over now and was not before, the other way round, or by another figure. */
export const changedShares = (
  before: readonly OverShareReport[],
  after: readonly OverShareReport[],
): ReadonlySet<number> =>
  new Set(
    changed(before, after, ({ domain, share, limit, refused }) => `${domain} ${share} ${limit} ${refused}`).map(
      ({ domain }) => domain,
    ),
  )

/** Load balancers whose access logs reach no receiver now and did before, the other way round, or for another reason. */
export const changedTroubles = (
  before: readonly LogTroubleReport[],
  after: readonly LogTroubleReport[],
): ReadonlySet<string> =>
  before.length + after.length === 0
    ? NO_TROUBLE
    : new Set(
        changed(before, after, ({ listenerId, reason }) => `${listenerId} ${reason}`).map(
          ({ loadBalancerId }) => loadBalancerId,
        ),
      )
const NO_TROUBLE: ReadonlySet<string> = new Set()

/** What only one of them has. */
function changed<T>(before: readonly T[], after: readonly T[], textOf: (report: T) => string): readonly T[] {
  const [known, reported] = [new Set(before.map(textOf)), new Set(after.map(textOf))]
  return [
    ...before.filter((report) => !reported.has(textOf(report))),
    ...after.filter((report) => !known.has(textOf(report))),
  ]
}
