import { endpointText } from '@spout/net'
import type { VipExplanation } from '../api/vips.ts'
import { Badge, type Tone } from '../parts/badge.tsx'
import { inNameOrder } from '../parts/name-order.ts'
import { Time } from '../parts/time.tsx'
import { Words } from '../parts/words.tsx'
import styles from './explain-page.module.css'
import { Hop } from './hop.tsx'
import type { Question } from './question.ts'

interface Props {
  readonly vip: VipExplanation
  readonly question: Question
}

/** The address, and the node that announces it. */
export const VipHop = ({ vip, question: { address, port, transport, source } }: Props) => (
  <>
    <Hop tone="quiet" kind="Client" title={source || 'any client'}>
      <p className={styles.soft}>
        opens {transport} {endpointText({ address, port })}
      </p>
    </Hop>
    <Hop tone={toneOf(vip)} kind="Address" title={address}>
      <p>
        {announced(vip)}{' '}
        <span className={styles.soft}>
          <Words of={vip.decision.message} />
        </span>
      </p>
      <LastMove move={vip.lastMove} />
      <ul className={styles.lines}>
        {inNameOrder(vip.nodes, ({ node }) => node).map((node) => (
          <li key={node.node}>
            <Badge tone={node.connection !== 'connected' ? 'bad' : node.announces ? 'ok' : 'quiet'}>
              {node.node}: {node.announces ? 'announces' : 'stands by'}
            </Badge>{' '}
            <span className={styles.soft}>
              {node.connection}, {node.entry}
              {node.message !== null && `: ${node.message}`}
            </span>
          </li>
        ))}
      </ul>
    </Hop>
  </>
)

const toneOf = ({ state }: VipExplanation): Tone => (state === 'announced' ? 'ok' : 'bad')

function announced({ state, owners, announcer, shard }: VipExplanation): string {
  const by = shard === null ? announcer : `${announcer}, shard ${shard}`
  if (state === 'two-owners') return `Two nodes announce it: ${owners.join(', ')} (${by}).`
  return owners.length === 0 ? `No node announces it (${by}).` : `${owners.join(', ')} announces it (${by}).`
}

function LastMove({ move }: { readonly move: VipExplanation['lastMove'] }) {
  if (move === null) return null
  const { at, from, reason, durationMs, node } = move
  return (
    <p className={styles.soft}>
      {node} took it over <Time at={at} />
      {from !== null && ` from ${from}`}
      {reason !== null && ` (${reason})`}
      {durationMs !== null && `, with a gap of ${durationMs} ms`}.
    </p>
  )
}
