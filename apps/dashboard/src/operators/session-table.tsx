import type { BgpSessionReport } from '@spout/model/node-report'
import { Badge } from '../parts/badge.tsx'
import { Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { useBgpPeers } from './node-reads.ts'

/** A node's BGP sessions. */
export function SessionTable({ sessions }: { readonly sessions: readonly BgpSessionReport[] }) {
  const { data: peers = [] } = useBgpPeers()
  return (
    <Table label="BGP sessions" head={['Peer', 'Session', 'Changed', 'Prefixes', 'BFD', 'Last error']}>
      {sessions.map(({ peerId, state, since, announced, bfd, lastError }) => (
        <tr key={peerId}>
          <th scope="row">{peers.find(({ id }) => id === peerId)?.name ?? peerId}</th>
          <td>
            <Badge tone={state === 'established' ? 'ok' : 'bad'}>{state}</Badge>
          </td>
          <td>
            <Time at={since} />
          </td>
          <td>{announced.toLocaleString()}</td>
          <td>{bfd ?? '–'}</td>
          <td>{lastError ?? '–'}</td>
        </tr>
      ))}
    </Table>
  )
}
