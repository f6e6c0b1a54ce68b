import { column, type Resource, type Row } from './resource.ts'

export interface Move {
  readonly at: string
  readonly event: 'taken' | 'released'
  readonly node: string
  readonly from: string | null
  readonly reason: string | null
  readonly durationMs: number | null
}

/** `n1 to n2, MasterSilent, 83 ms`. */
export function moveText({ event, node, from, reason, durationMs }: Move): string {
  const what = event === 'released' ? `${node} gave it up` : from === null ? `${node} took it` : `${from} to ${node}`
  return [what, ...(reason ? [reason] : []), ...(durationMs === null ? [] : [`${durationMs} ms`])].join(', ')
}

const lastMove = (row: Row): Move | null => row.lastMove as Move | null

export const vip: Resource = {
  noun: 'vip',
  title: 'VIP',
  summary: 'addresses of load balancers, and the nodes that announce them',
  path: '/vips',
  within: [],
  columns: [
    column('ADDRESS', 'address'),
    { title: 'LOAD BALANCER', value: (row) => row.loadBalancerName || row.loadBalancerId },
    column('ANNOUNCER', 'announcer'),
    column('SHARD', 'shard'),
    column('OWNER', 'owners'),
    column('STATE', 'state'),
    {
      title: 'LAST MOVE',
      value: (row) => {
        const move = lastMove(row)
        return move && moveText(move)
      },
    },
    { title: 'AT', value: (row) => lastMove(row)?.at },
    { title: 'PROJECT', wide: true, value: (row) => row.projectName ?? row.projectId },
    column('SCOPE', 'scope', true),
    column('GROUP', 'nodeGroup', true),
  ],
  fields: [],
  verbs: ['list'],
}

export const MOVE_COLUMNS = [
  column('AT', 'at'),
  column('EVENT', 'event'),
  column('NODE', 'node'),
  column('FROM', 'from'),
  column('REASON', 'reason'),
  { title: 'DURATION', value: (row: Row) => (row.durationMs === null ? null : `${String(row.durationMs)} ms`) },
] as const
