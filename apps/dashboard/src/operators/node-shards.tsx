import type { ShardReport } from '@spout/model/node-report'
import { Badge } from '../parts/badge.tsx'
import { Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { moveText, partWord } from './shard-words.ts'

interface Props {
  readonly shards: readonly ShardReport[]
  readonly isDraining: boolean
}

/** A node's part in each shard of its group. */
export const NodeShards = ({ shards, isDraining }: Props) => (
  <Table label="Shards" head={['Shard', 'Here', 'Changed', 'Takeovers', 'Last change', 'Gap']}>
    {shards.map(({ number, state, since, takeovers, lastMove }) => {
      const { word, tone } = partWord({ state, lastMove }, isDraining)
      return (
        <tr key={number}>
          <th scope="row">{number}</th>
          <td>
            <Badge tone={tone}>{word}</Badge>
          </td>
          <td>
            <Time at={since} />
          </td>
          <td>{takeovers}</td>
          <td>{moveText({ state, lastMove }, isDraining)}</td>
          <td>{lastMove?.silentMs == null ? '–' : `${lastMove.silentMs} ms`}</td>
        </tr>
      )
    })}
  </Table>
)
