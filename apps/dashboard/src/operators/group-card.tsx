import type { NodeGroup } from '@spout/model'
import { Link } from '@tanstack/react-router'
import type { ShownNode } from '../api/nodes.ts'
import { Badge } from '../parts/badge.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { command } from '../parts/shell-word.ts'
import { Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { Words } from '../parts/words.tsx'
import { nodeVerdict } from './node-verdict.ts'
import styles from './nodes-page.module.css'
import { RebalanceCard } from './rebalance-card.tsx'
import { SchedulingButton } from './scheduling-button.tsx'
import { ShardMap } from './shard-map.tsx'
import { shardsOf } from './shard-owners.ts'

interface Props {
  readonly group: NodeGroup
  readonly nodes: readonly ShownNode[]
}

const HEAD = ['Node', 'State', 'Addresses', 'Shards', 'BGP', 'Version', 'Last report', 'Actions']

/** A group of nodes: each node, who has which shard, and moves under way. */
export function GroupCard({ group, nodes }: Props) {
  const shards = shardsOf(nodes)
  return (
    <section className={styles.group} aria-label={`Group ${group.name}`}>
      <div className={styles.head}>
        <h2>{group.name}</h2>
        <span className={styles.soft}>
          {group.announcer} · {nodes.length === 1 ? '1 node' : `${nodes.length} nodes`}
        </span>
      </div>
      {nodes.length === 0 ? (
        <NoNodeOf group={group.name} />
      ) : (
        <Table label={`Nodes of group ${group.name}`} head={HEAD}>
          {nodes.map((node) => (
            <NodeRow key={node.id} node={node} />
          ))}
        </Table>
      )}
      {shards.length > 0 && (
        <>
          <ShardMap shards={shards} />
          <RebalanceCard group={group} nodes={nodes} />
        </>
      )}
    </section>
  )
}

const NoNodeOf = ({ group }: { readonly group: string }) => (
  <EmptyState
    title="No node is in this group"
    commands={[{ title: 'Enrol one', text: command(['spout', 'token', 'create', 'lb1'], [['--node-group', group]]) }]}
  >
    Nothing of the group is announced until it has a node. A node that is enrolled already joins it by{' '}
    <code>spout node move</code>.
  </EmptyState>
)

const NodeRow = ({ node }: { readonly node: ShownNode }) => {
  const { name, id, status } = node
  const { level, text } = nodeVerdict(node)
  const [problem] = status.problems
  return (
    <tr>
      <th scope="row">
        <Link to="/nodes/$id" params={{ id }}>
          {name}
        </Link>
      </th>
      <td>
        <Badge tone={level}>{text}</Badge>
        {problem !== undefined && (
          <p className={styles.reason}>
            <Words of={problem.message} />
          </p>
        )}
      </td>
      <td className={styles.figure}>{status.announced.toLocaleString()}</td>
      <td>{shardsText(node)}</td>
      <td>{sessionsText(node)}</td>
      <td>{status.version ?? '–'}</td>
      <td>
        <Time at={status.lastReportAt} />
      </td>
      <td>
        <SchedulingButton node={node} />
      </td>
    </tr>
  )
}

function shardsText({ status: { shards } }: ShownNode): string {
  if (shards.length === 0) return '–'
  return `${shards.filter(({ state }) => state === 'master').length} of ${shards.length}`
}

function sessionsText({ status: { bgpSessions: all } }: ShownNode): string {
  if (all.length === 0) return '–'
  return `${all.filter(({ state }) => state === 'established').length} of ${all.length} up`
}
