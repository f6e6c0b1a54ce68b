import { Badge, type Tone } from '../parts/badge.tsx'
import { Time } from '../parts/time.tsx'
import styles from './nodes-page.module.css'
import type { ShardView } from './shard-owners.ts'
import { partWord } from './shard-words.ts'

/** Who has which shard: the master that announces its addresses, and how it came to it. */
export const ShardMap = ({ shards }: { readonly shards: readonly ShardView[] }) => (
  <div>
    <h3 className={styles.title}>Shards</h3>
    <ul className={styles.shards}>
      {shards.map((shard) => (
        <li key={shard.number} className={styles.shard}>
          <span className={styles.number}>{shard.number}</span>
          <Badge tone={toneOf(shard)}>{mastersText(shard)}</Badge>
          <Move shard={shard} />
        </li>
      ))}
    </ul>
  </div>
)

function toneOf({ masters, silentMasters }: ShardView): Tone {
  if (masters.length === 1) return 'ok'
  return masters.length === 0 && silentMasters.length > 0 ? 'warn' : 'bad'
}

function mastersText({ masters, silentMasters }: ShardView): string {
  const names = (nodes: ShardView['masters']): string => nodes.map(({ name }) => name).join(' and ')
  if (masters.length > 0) return names(masters)
  return silentMasters.length > 0 ? `${names(silentMasters)}, which is silent` : 'no owner'
}

function Move({ shard: { lastMove, out } }: { readonly shard: ShardView }) {
  return (
    <span className={styles.soft}>
      {lastMove !== null && (
        <>
          <Time at={lastMove.at} />
          {lastMove.reason !== null && `, ${lastMove.reason}`}
          {lastMove.silentMs !== null && `, gap ${lastMove.silentMs} ms`}
          {out.length > 0 && '; '}
        </>
      )}
      {out.map(({ node, shard }) => `${node.name}: ${partWord(shard, node.scheduling === 'draining').word}`).join(', ')}
    </span>
  )
}
