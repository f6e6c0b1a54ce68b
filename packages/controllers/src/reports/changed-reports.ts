import type { LogTroubleReport, OverShareReport } from '@spout/model'

/** Domains that exceed a share now and did not before, or the other way round, or whose report has another limit. */
export const changedShares = (
  before: readonly OverShareReport[],
  after: readonly OverShareReport[],
): ReadonlySet<number> =>
  new Set(
    changed(before, after, ({ domain, share, limit, refused }) => `${domain} ${share} ${limit} ${refused}`).map(
      ({ domain }) => domain,
    ),
  )

/**
 * Load balancers with an access log that fails now and did not before, or the other way round, or that fails for
 * another reason.
 */
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

/** The reports that only one of the lists has. */
function changed<T>(before: readonly T[], after: readonly T[], textOf: (report: T) => string): readonly T[] {
  const [known, reported] = [new Set(before.map(textOf)), new Set(after.map(textOf))]
  return [
    ...before.filter((report) => !reported.has(textOf(report))),
    ...after.filter((report) => !known.has(textOf(report))),
  ]
}
