import type { ShardReport } from '@spout/model/node-report'
import { Badge, type Tone } from '../parts/badge.tsx'
import { Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'

const TONES: Readonly<Record<ShardReport['state'], Tone>> = {
  master: 'ok',
  backup: 'quiet',
  fault: 'bad',
  stopped: 'warn',
}

/** A node's part in each shard of its group. */
export const NodeShards = ({ shards }: { readonly shards: readonly ShardReport[] }) => (
  <Table label="Shards" head={['Shard', 'Here', 'Changed', 'Takeovers', 'Last change', 'Gap']}>
    {shards.map(({ number, state, since, takeovers, lastMove }) => (
      <tr key={number}>
        <th scope="row">{number}</th>
        <td>
          <Badge tone={TONES[state]}>{state}</Badge>
        </td>
        <td>
          <Time at={since} />
        </td>
        <td>{takeovers}</td>
        <td>
          {lastMove === null
            ? '–'
            : `${lastMove.from} → ${lastMove.to}${lastMove.reason === null ? '' : `, ${lastMove.reason}`}`}
        </td>
        <td>{lastMove?.silentMs == null ? '–' : `${lastMove.silentMs} ms`}</td>
      </tr>
    ))}
  </Table>
)
