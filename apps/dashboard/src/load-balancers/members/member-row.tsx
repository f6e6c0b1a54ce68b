import { endpointText } from '@spout/net'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { ExplainedMember } from '../../api/explanation.ts'
import { changeMember, type MemberPlace } from '../../api/load-balancers.ts'
import { problemText } from '../../api/problem.ts'
import { useAnnounce } from '../../parts/announcer.tsx'
import { Badge, type Tone } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Name } from '../../parts/name.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { Time } from '../../parts/time.tsx'
import { useSession } from '../../session/session-context.ts'
import { MEMBER_WORDS } from './member-words.ts'
import styles from './members-view.module.css'

const TONES: Readonly<Record<ExplainedMember['health'], Tone>> = {
  up: 'ok',
  down: 'bad',
  unknown: 'quiet',
  unmonitored: 'quiet',
}

const MOST_WEIGHT = 256

interface Props {
  readonly place: MemberPlace
  readonly member: ExplainedMember
  /** What it gets when it was drained and takes traffic again. */
  readonly resumed: number
}

/** One member: how it is and why, its weight, and a button that drains it. */
export function MemberRow({ place, member, resumed }: Props) {
  const { name, address, port, weight, health, reason, since, why, takesTraffic } = member
  const { may } = useSession()
  const endpoint = endpointText({ address, port })
  const called = name || endpoint
  return (
    <tr>
      <th scope="row">
        {name !== '' && (
          <span className={styles.name}>
            <Name of={name} />
          </span>
        )}
        <span className={styles.endpoint}>{endpoint}</span>
      </th>
      <td>
        <Badge tone={TONES[health]}>{MEMBER_WORDS[health]}</Badge>
      </td>
      <td>{reason ?? <span className={styles.soft}>–</span>}</td>
      <td>
        <Time at={since} or="–" />
      </td>
      <td>{may.balance ? <WeightForm place={place} called={called} weight={weight} /> : weight}</td>
      <td>
        <span>{takesTraffic ? 'takes traffic' : (why ?? '–')}</span>
        {may.balance && <DrainButton place={place} called={called} weight={weight} resumed={resumed} />}
      </td>
    </tr>
  )
}

interface ChangeProps {
  readonly place: MemberPlace
  readonly called: string
  readonly weight: number
}

function useWeight({ place, called }: Pick<ChangeProps, 'place' | 'called'>) {
  const client = useQueryClient()
  const announce = useAnnounce()
  return useMutation({
    mutationFn: (weight: number) => changeMember(place, { weight }),
    onSuccess: async (_, weight) => {
      announce(weight === 0 ? `${called} is being drained.` : `The weight of ${called} is ${weight}.`)
      await client.invalidateQueries({ queryKey: ['loadBalancer', place.id] })
    },
  })
}

/** Connections go on until the pool's drain time is over; new ones go to other members. */
function DrainButton({ place, called, weight, resumed }: ChangeProps & Pick<Props, 'resumed'>) {
  const change = useWeight({ place, called })
  const isDrained = weight === 0
  return (
    <>
      <Button
        variant="quiet"
        aria-label={`${isDrained ? 'Resume' : 'Drain'} ${called}`}
        onPress={() => change.mutate(isDrained ? resumed : 0)}
        isPending={change.isPending}
      >
        {isDrained ? 'Resume' : 'Drain'}
      </Button>
      {change.error !== null && <span role="alert">{problemText(change.error)}</span>}
    </>
  )
}

function WeightForm({ place, called, weight }: ChangeProps) {
  const change = useWeight({ place, called })
  const [typed, setTyped] = useState<string | null>(null)
  const isWhole = typed === null || (/^\d{1,3}$/.test(typed) && Number(typed) <= MOST_WEIGHT)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (typed !== null && isWhole) change.mutate(Number(typed), { onSuccess: () => setTyped(null) })
  }
  return (
    <form className={styles.actions} onSubmit={submit}>
      <span className={styles.weight}>
        <TextInput
          aria-label={`Weight of ${called}, 0 to ${MOST_WEIGHT}`}
          inputMode="numeric"
          value={typed ?? String(weight)}
          onChange={setTyped}
          error={isWhole ? (change.error === null ? null : problemText(change.error)) : `0 to ${MOST_WEIGHT}`}
        />
      </span>
      {typed !== null && Number(typed) !== weight && (
        <Button type="submit" variant="primary" isPending={change.isPending}>
          Set
        </Button>
      )}
    </form>
  )
}
