import type { ConnectionFate, PartDifference, PlanDifference, Preview } from '@spout/model'
import { endpointText } from '@spout/net'
import type { ReactNode } from 'react'
import { Badge } from '../../parts/badge.tsx'
import { Name } from '../../parts/name.tsx'
import { Table } from '../../parts/table.tsx'
import { durationText } from '../../parts/time-text.ts'
import { Words } from '../../parts/words.tsx'
import styles from './preview-view.module.css'
import {
  addressWords,
  announcesWords,
  CHANGE_WORDS,
  FATE_WORDS,
  PROXY_WORDS,
  partWords,
  verdictOf,
} from './preview-words.ts'

/** What a change would do, what ends first. */
export function PreviewView({ of: { addresses, dnsNames, plan } }: { readonly of: Preview }) {
  const { tone, text } = verdictOf(plan)
  return (
    <div className={styles.preview}>
      <p>
        <Badge tone={tone}>{text}</Badge>
      </p>
      <Part title="Open connections" items={plan.connections.map(fateItem)} />
      <Part
        title="Addresses"
        items={addresses.map((one) => (
          <>
            <strong>{one.address}</strong> {addressWords(one)}
          </>
        ))}
      />
      <Part
        title="DNS"
        items={[
          ...dnsNames.added.map((name) => <DnsName key={name} of={name} what="is published" />),
          ...dnsNames.removed.map((name) => <DnsName key={name} of={name} what="is taken out" />),
        ]}
      />
      <Part title="Listeners and pools" items={plan.parts.map((part) => partItem(part))} />
      <Nodes of={plan} />
    </div>
  )
}

const DnsName = ({ of, what }: { readonly of: string; readonly what: string }) => (
  <>
    <strong>
      <Name of={of} />
    </strong>{' '}
    {what}
  </>
)

/** Nothing is shown of a part without items. */
const Part = ({ title, items }: { readonly title: string; readonly items: readonly ReactNode[] }) =>
  items.length > 0 && (
    <section>
      <h3>{title}</h3>
      <ul className={styles.list}>
        {items.map((item, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a preview never changes
          <li key={at}>{item}</li>
        ))}
      </ul>
    </section>
  )

/** So many members are shown of one change. */
const MOST_MEMBERS = 10

function fateItem({ fate, listener, pool, message, afterSeconds, members, memberCount }: ConnectionFate): ReactNode {
  const { word, tone } = FATE_WORDS[fate]
  return (
    <>
      <Badge tone={tone}>{word}</Badge>{' '}
      {Object.entries({ listener, pool }).map(
        ([what, part]) =>
          part !== null && (
            <span key={what}>
              {what}{' '}
              <strong>
                <Name of={part.name} or={part.id} />
              </strong>
              {': '}
            </span>
          ),
      )}
      <Words of={message} />
      {afterSeconds !== null && afterSeconds > 0 && ` After ${durationText(afterSeconds)}.`}
      <Members of={members} count={memberCount} />
    </>
  )
}

function partItem(part: PartDifference): ReactNode {
  const words = partWords(part)
  return (
    <>
      {CHANGE_WORDS[part.change]}: {part.part}{' '}
      <strong>
        <Name of={part.name} or={part.id} />
      </strong>
      {words !== '' && ` (${words})`}
      <Members of={part.members} count={part.memberChanges} />
    </>
  )
}

interface ShownMember {
  readonly name: string
  readonly address: string
  readonly port: number
  readonly change?: 'added' | 'changed' | 'removed'
  readonly weight?: { readonly before: number | null; readonly after: number | null }
}

const Members = ({ of, count }: { readonly of: readonly ShownMember[]; readonly count: number }) =>
  count > 0 && (
    <ul className={styles.members}>
      {of.slice(0, MOST_MEMBERS).map(({ name, change, weight, ...end }) => (
        <li key={endpointText(end)}>
          {change !== undefined && `${CHANGE_WORDS[change]}: `}
          <Name of={name} or={endpointText(end)} /> {name !== '' && endpointText(end)}
          {change === 'changed' && weight?.before !== weight?.after && `, weight ${weight?.before} → ${weight?.after}`}
        </li>
      ))}
      {count > MOST_MEMBERS && <li>and {count - MOST_MEMBERS} more</li>}
    </ul>
  )

const Nodes = ({ of: { nodes, reason, shard } }: { readonly of: PlanDifference }) => (
  <section>
    <h3>Nodes</h3>
    {reason !== null && (
      <p>
        <Words of={reason.message} />
      </p>
    )}
    {nodes.length > 0 && (
      <Table label="What each node does" head={['Node', 'Load balancer', 'Addresses', 'Proxy']}>
        {nodes.map((node) => (
          <tr key={node.nodeId}>
            <td>
              <Name of={node.nodeName} />
            </td>
            <td>{CHANGE_WORDS[node.change]}</td>
            <td>{announcesWords(node, (shard.after ?? shard.before) !== null)}</td>
            <td>{PROXY_WORDS[node.proxy]}</td>
          </tr>
        ))}
      </Table>
    )}
  </section>
)
