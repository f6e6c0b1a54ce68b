import type { ExplainedPool } from '../api/explanation.ts'
import { Name } from '../parts/name.tsx'
import { besidesText, checksText, filterText } from './action-text.ts'
import styles from './explain-page.module.css'
import { Hop } from './hop.tsx'
import { percentText } from './percent-text.ts'
import { PoolHop } from './pool-hop.tsx'
import type { End } from './way.ts'

interface Props {
  readonly end: End
  readonly pools: readonly ExplainedPool[]
}

/** Where the way of a request ends: at members, or at an answer of the proxy. */
export function EndHop({ end, pools }: Props) {
  if (end.is === 'closed')
    return (
      <Hop tone="bad" kind="End" title="refused">
        <p>{end.why}</p>
      </Hop>
    )
  if (end.is === 'answer')
    return (
      <Hop tone={end.code >= 500 ? 'bad' : 'ok'} kind="Answer" title={`${end.code}`}>
        <p>{end.why}</p>
      </Hop>
    )
  if (end.is === 'redirect')
    return (
      <Hop tone="ok" kind="Redirect" title={`${end.code}`}>
        <p>
          Location: <bdi className={styles.code}>{end.location}</bdi>
        </p>
      </Hop>
    )
  return (
    <>
      {end.forward !== null && <Filters forward={end.forward} pools={pools} />}
      {end.shares.map((share) =>
        share.is === 'pool' ? (
          <PoolHop key={share.pool?.id ?? 'unknown'} share={share} />
        ) : (
          <Hop key="answered" tone="quiet" kind={`Answer to ${percentText(share.percent)}`} title={`${share.code}`} />
        ),
      )}
    </>
  )
}

const Filters = ({
  forward,
  pools,
}: {
  readonly forward: NonNullable<Extract<End, { readonly is: 'shares' }>['forward']>
  readonly pools: readonly ExplainedPool[]
}) => {
  const called = (id: string): string => pools.find((pool) => pool.id === id)?.name || id
  const lines = [
    ...checksText(forward, called),
    ...(forward.filters ?? []).map(filterText),
    ...besidesText(forward, called),
  ]
  if (lines.length === 0) return null
  return (
    <Hop tone="quiet" kind="Filters" title="on the way">
      <ul className={styles.lines}>
        {lines.map((line) => (
          <li key={line}>
            <Name of={line} />
          </li>
        ))}
      </ul>
    </Hop>
  )
}
