import type { NodeGroup, PlannedMove } from '@spout/model'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type RebalanceStep, readRebalance, rebalance, type ShownNode } from '../api/nodes.ts'
import { keys } from '../api/query-keys.ts'
import { Badge, type Tone } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Dialog, DialogActions } from '../parts/dialog.tsx'
import { ProblemBox } from '../parts/problem-box.tsx'
import { Time } from '../parts/time.tsx'
import styles from './nodes-page.module.css'

interface Props {
  readonly group: NodeGroup
  readonly nodes: readonly ShownNode[]
}

/** While shards move, their steps are read this often. */
const WATCH_MS = 1000

/** Spreads the shards of a group evenly: what would move, asked first; then each move as it happens. */
export function RebalanceCard({ group, nodes }: Props) {
  const [isAsking, setAsking] = useState(false)
  const client = useQueryClient()
  const plan = useMutation({ mutationFn: () => rebalance(group.id, true) })
  const begin = useMutation({
    mutationFn: () => rebalance(group.id, false),
    onSuccess: () => {
      setAsking(false)
      return client.invalidateQueries({ queryKey: keys.of('nodeGroup', group.id) })
    },
  })
  const nameOf = (id: string): string => nodes.find((node) => node.id === id)?.name ?? id
  const ask = (): void => {
    begin.reset()
    plan.mutate()
    setAsking(true)
  }
  return (
    <div className={styles.moves}>
      <Button onPress={ask} aria-label={`Rebalance ${group.name}`}>
        Rebalance
      </Button>
      <Progress groupId={group.id} nameOf={nameOf} />
      <Dialog title={`Rebalance ${group.name}?`} isOpen={isAsking} onClose={() => setAsking(false)} isAlert>
        {plan.error !== null && <ProblemBox error={plan.error} />}
        {plan.data !== undefined && <Moves moves={plan.data} nameOf={nameOf} />}
        {begin.error !== null && <ProblemBox error={begin.error} />}
        <DialogActions>
          <Button onPress={() => setAsking(false)}>Cancel</Button>
          <Button
            variant="primary"
            onPress={() => begin.mutate()}
            isPending={begin.isPending}
            isDisabled={plan.data === undefined || plan.data.length === 0}
          >
            Rebalance
          </Button>
        </DialogActions>
      </Dialog>
    </div>
  )
}

const Moves = ({
  moves,
  nameOf,
}: {
  readonly moves: readonly PlannedMove[]
  readonly nameOf: (id: string) => string
}) =>
  moves.length === 0 ? (
    <p>The shards are spread evenly: nothing would move.</p>
  ) : (
    <>
      <p>One after the other, each when its new owner is ready:</p>
      <ul>
        {moves.map(({ shard, fromNodeId, toNodeId }) => (
          <li key={shard}>
            shard {shard}: {nameOf(fromNodeId)} → {nameOf(toNodeId)}
          </li>
        ))}
      </ul>
    </>
  )

const TONES: Readonly<Record<RebalanceStep['state'], Tone>> = {
  done: 'ok',
  moving: 'warn',
  waiting: 'quiet',
  failed: 'bad',
}

function Progress({ groupId, nameOf }: { readonly groupId: string; readonly nameOf: (id: string) => string }) {
  const { data } = useQuery({
    queryKey: keys.of('nodeGroup', groupId, 'rebalance'),
    queryFn: ({ signal }) => readRebalance(groupId, signal),
    refetchInterval: ({ state }) => (state.data?.steps.some(isOpen) ? WATCH_MS : false),
  })
  if (data === undefined || data.steps.length === 0) return null
  return (
    <div>
      <p className={styles.soft}>
        Moves asked for <Time at={data.askedAt} />:
      </p>
      <ul className={styles.steps}>
        {data.steps.map(({ shard, fromNodeId, toNodeId, state, message }) => (
          <li key={shard}>
            <Badge tone={TONES[state]}>{state}</Badge> shard {shard}: {nameOf(fromNodeId)} → {nameOf(toNodeId)}
            {message !== null && <span className={styles.soft}> {message}</span>}
          </li>
        ))}
      </ul>
    </div>
  )
}

const isOpen = ({ state }: RebalanceStep): boolean => state === 'moving' || state === 'waiting'
