import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { readLoadBalancer } from '../../api/load-balancers.ts'
import { keys } from '../../api/query-keys.ts'
import { useAnnounce } from '../../parts/announcer.tsx'
import { Button } from '../../parts/button.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { ProblemBox } from '../../parts/problem-box.tsx'
import { ShareSlider } from '../../parts/share-slider.tsx'
import { Conflict } from '../edit/conflict.tsx'
import { readAfterConflict } from '../edit/read-after-conflict.ts'
import { changeWeights, type WeightChange } from './change-weights.ts'
import { type Choice, carriedOver, chosenWeights, moved, percentsNow } from './choice.ts'
import styles from './weight-panel.module.css'
import { isAlike, type Weighted, type WeightPlace, weightedAt, weightLines } from './weighted.ts'

interface Props {
  readonly id: string
  readonly place: WeightPlace
  /** What shares its traffic, such as `pool web`. */
  readonly title: string
}

/** Sliders that share the traffic of one place. Nothing changes until it is applied. */
export function WeightPanel({ id, place, title }: Props) {
  const read = useQuery({ queryKey: keys.loadBalancer(id), queryFn: ({ signal }) => readLoadBalancer(id, signal) })
  return (
    <section className={styles.panel} aria-label={`Traffic of ${title}`}>
      <Loaded query={read}>{({ body }) => <Sliders id={id} place={place} now={weightedAt(body, place)} />}</Loaded>
    </section>
  )
}

/** What was applied last, to be put back. */
interface Former {
  readonly before: readonly Weighted[]
  readonly after: ReadonlyMap<string, number>
}

function Sliders({ id, place, now }: Pick<Props, 'id' | 'place'> & { readonly now: readonly Weighted[] }) {
  const [choice, setChoice] = useState<Choice | null>(null)
  const [former, setFormer] = useState<Former | null>(null)
  const change = useChange((applied) => {
    setFormer(choice === null ? null : { before: applied.base, after: applied.weights })
    setChoice(null)
  })
  const shown = choice?.base ?? now
  const percents = percentsNow(choice, now)
  const stored = new Map(percentsNow(null, now).map((percent, at) => [now[at]?.id, percent]))
  const isOld = choice !== null && !change.isPending && !isAlike(choice.base, now)
  const isLast = former !== null && now.every(({ id, weight }) => former.after.get(id) === weight)
  const start = (next: Choice | null): void => {
    change.reset()
    setChoice(next)
  }
  if (shown.length === 0) return <p className={styles.soft}>It is no longer there.</p>
  return (
    <>
      {isOld && (
        <Conflict
          what="the weights"
          did="chose"
          keep="Keep my choice"
          drop="Drop my choice"
          before={weightLines(choice.base)}
          after={weightLines(now)}
          onKeep={() => start(carriedOver(choice, now))}
          onTheirs={() => start(null)}
        />
      )}
      <div className={styles.sliders}>
        {shown.map(({ id, name }, at) => (
          <ShareSlider
            key={id}
            label={name}
            percent={percents[at] ?? 0}
            hint={`${stored.get(id) ?? 0} % now`}
            onChange={(percent) => setChoice(moved(choice, now, at, percent))}
            isDisabled={change.isPending || isOld}
          />
        ))}
      </div>
      {change.error !== null && !isOld && <ProblemBox error={change.error} />}
      <div className={styles.actions}>
        <Button
          variant="primary"
          isDisabled={choice === null || isOld}
          isPending={change.isPending}
          onPress={() => choice && change.mutate({ id, place, base: choice.base, weights: chosenWeights(choice) })}
        >
          Apply
        </Button>
        <Button isDisabled={choice === null || change.isPending} onPress={() => start(null)}>
          Undo
        </Button>
        {choice === null && isLast && (
          <Button
            isPending={change.isPending}
            onPress={() => change.mutate({ id, place, base: now, weights: weightsOf(former.before) })}
          >
            Put the former weights back
          </Button>
        )}
        <span className={styles.soft}>
          {choice !== null ? 'Not applied yet.' : isLast ? 'Applied.' : 'What gets which part of new traffic.'}
        </span>
      </div>
    </>
  )
}

const weightsOf = (all: readonly Weighted[]): ReadonlyMap<string, number> =>
  new Map(all.map(({ id, weight }) => [id, weight]))

function useChange(onApplied: (change: WeightChange) => void) {
  const client = useQueryClient()
  const announce = useAnnounce()
  return useMutation({
    mutationFn: changeWeights,
    onSuccess: async (_, change) => {
      await client.invalidateQueries({ queryKey: ['loadBalancer', change.id] })
      onApplied(change)
      announce('The weights are applied.')
    },
    onError: (error, { id }) => readAfterConflict(client, id, error),
  })
}
