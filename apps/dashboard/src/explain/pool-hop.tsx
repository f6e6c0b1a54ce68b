import { endpointText } from '@spout/net'
import type { ExplainedPool } from '../api/explanation.ts'
import { Badge, type Tone } from '../parts/badge.tsx'
import { Name } from '../parts/name.tsx'
import { Time } from '../parts/time.tsx'
import { filterText } from './action-text.ts'
import styles from './explain-page.module.css'
import { Hop } from './hop.tsx'
import { type MemberShare, memberShares } from './member-shares.ts'
import { percentText } from './percent-text.ts'
import type { PoolShare } from './way.ts'

/** More members are not shown. */
const MOST = 50

/** A pool with the share of each member, and why the others get nothing. */
export function PoolHop({ share: { pool, percent, filters } }: { readonly share: PoolShare }) {
  if (pool === null)
    return (
      <Hop tone="bad" kind={`Pool for ${percentText(percent)}`} title="unknown">
        <p>The pool is gone: its share gets 503.</p>
      </Hop>
    )
  const members = memberShares(pool)
  const taking = members.filter(({ member }) => member.takesTraffic)
  const out = members.filter(({ member }) => !member.takesTraffic)
  return (
    <Hop
      tone={toneOf(pool, taking.length, out.length)}
      kind={percent === 100 ? 'Pool' : `Pool for ${percentText(percent)}`}
      title={<Name of={pool.name} or={pool.id} />}
    >
      <p className={styles.soft}>
        {pool.algorithm}
        {pool.monitored ? '' : ', not monitored'}
        {pool.refusedPercent > 0 && `, ${percentText(pool.refusedPercent)} of new connections are refused on purpose`}
      </p>
      {pool.panic && <p>So many members are down that their health is ignored: the check is the more likely fault.</p>}
      {members.length === 0 && <p>It has no members: nobody can answer.</p>}
      {filters?.map((filter) => (
        <p key={filter.type} className={styles.soft}>
          <bdi>{filterText(filter)}</bdi>
        </p>
      ))}
      <ul className={styles.members}>
        {[...taking, ...out].slice(0, MOST).map((one) => (
          <MemberLine key={one.member.id} share={one} />
        ))}
      </ul>
      {members.length > MOST && (
        <p className={styles.soft}>and {(members.length - MOST).toLocaleString()} more members</p>
      )}
    </Hop>
  )
}

function toneOf({ panic }: ExplainedPool, taking: number, out: number): Tone {
  if (panic || taking === 0) return 'bad'
  return out > 0 ? 'warn' : 'ok'
}

const MemberLine = ({ share: { member, percent } }: { readonly share: MemberShare }) => {
  const { name, address, port, health, reason, since, why, takesTraffic } = member
  return (
    <li className={styles.member}>
      <span className={styles.share}>{takesTraffic ? percentText(percent) : 'out'}</span>
      <span className={styles.strong}>
        <Name of={name} or={address} />
      </span>
      <span className={styles.code}>{endpointText({ address, port })}</span>
      <Badge tone={takesTraffic ? (health === 'down' ? 'warn' : 'ok') : health === 'down' ? 'bad' : 'quiet'}>
        {health}
      </Badge>
      {why !== null && health !== 'down' && <span>{why}</span>}
      {health === 'down' && (
        <span className={styles.soft}>
          {reason !== null && <bdi>{reason}</bdi>}
          {reason !== null && since !== null && ', '}
          {since !== null && <Time at={since} />}
        </span>
      )}
    </li>
  )
}
