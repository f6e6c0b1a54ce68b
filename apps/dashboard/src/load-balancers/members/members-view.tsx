import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ExplainedMember, ExplainedPool } from '../../api/explanation.ts'
import { explainLoadBalancer } from '../../api/load-balancers.ts'
import { keys } from '../../api/query-keys.ts'
import { Button } from '../../parts/button.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Name } from '../../parts/name.tsx'
import { Table } from '../../parts/table.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { useSession } from '../../session/session-context.ts'
import { ShiftTraffic } from '../weights/shift-traffic.tsx'
import { hasSliders } from '../weights/weighed-places.ts'
import { FirstMember, FirstPool } from './first-ones.tsx'
import { MemberHistory } from './member-history.tsx'
import { MemberRow } from './member-row.tsx'
import styles from './members-view.module.css'
import { resumedWeight } from './resumed-weight.ts'
import { shownMembers } from './shown-members.ts'

/** The members of each pool: their state and why, and what can be done with them. */
export function MembersView({ id }: { readonly id: string }) {
  const told = useQuery({
    queryKey: keys.explanation(id),
    queryFn: ({ signal }) => explainLoadBalancer(id, signal),
  })
  return (
    <Loaded query={told}>
      {({ loadBalancer: { name }, pools }) =>
        pools.length === 0 ? (
          <FirstPool loadBalancer={name || id} />
        ) : (
          <div className={styles.pools}>
            {pools.map((pool) => (
              <PoolMembers key={pool.id} id={id} loadBalancer={name || id} pool={pool} />
            ))}
            <MemberHistory id={id} pools={pools} />
          </div>
        )
      }
    </Loaded>
  )
}

const PAGE = 100
/** From here on a text narrows the list. */
const MANY = 10

interface PoolProps {
  readonly id: string
  /** Its name, or its id. */
  readonly loadBalancer: string
  readonly pool: ExplainedPool
}

function PoolMembers({ id, loadBalancer, pool }: PoolProps) {
  const { may } = useSession()
  const [text, setText] = useState('')
  const [most, setMost] = useState(PAGE)
  const members = shownMembers(pool.members, text)
  const title = pool.name || pool.protocol
  return (
    <section className={styles.pool} aria-label={`Pool ${title}`}>
      <header className={styles.head}>
        <h2>
          <Name of={title} />
        </h2>
        <span className={styles.soft}>
          {pool.protocol}, {pool.algorithm}, {pool.members.length.toLocaleString()}{' '}
          {pool.members.length === 1 ? 'member' : 'members'}
          {pool.monitored ? '' : ', not checked'}
        </span>
        {pool.members.length > MANY && (
          <TextInput
            aria-label={`Find a member of ${title}`}
            placeholder="Name, address or state"
            type="search"
            value={text}
            onChange={setText}
          />
        )}
      </header>
      {may.balance && hasSliders(pool) && (
        <ShiftTraffic id={id} place={{ of: 'pool', poolId: pool.id }} title={`pool ${title}`} />
      )}
      {pool.members.length === 0 ? (
        <FirstMember loadBalancer={loadBalancer} pool={pool.name || pool.id} />
      ) : (
        <MemberTable id={id} pool={pool} members={members.slice(0, most)} title={title} />
      )}
      {members.length > most && (
        <Button onPress={() => setMost(most + PAGE)}>
          Show {Math.min(PAGE, members.length - most)} more of {members.length - most}
        </Button>
      )}
    </section>
  )
}

interface TableProps {
  readonly id: string
  readonly pool: ExplainedPool
  readonly members: readonly ExplainedMember[]
  readonly title: string
}

function MemberTable({ id, pool, members, title }: TableProps) {
  if (members.length === 0) return <p className={styles.soft}>No member matches.</p>
  const resumed = resumedWeight(pool.members.map(({ weight }) => weight))
  return (
    <Table label={`Members of ${title}`} head={['Member', 'State', 'Reason', 'Changed', 'Weight', 'Traffic']}>
      {members.map((member) => (
        <MemberRow
          key={member.id}
          place={{ id, poolId: pool.id, memberId: member.id }}
          member={member}
          resumed={resumed}
        />
      ))}
    </Table>
  )
}
