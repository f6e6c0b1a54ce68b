import type { LoadBalancerHealth } from '@spout/model'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { listProjects } from '../../api/projects.ts'
import { keys } from '../../api/query-keys.ts'
import { Mark } from '../../parts/badge.tsx'
import { Choice } from '../../parts/choice.tsx'
import { HEALTH_TONES, HEALTH_WORDS } from '../../parts/health-badge.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { useSession } from '../../session/session-context.ts'
import styles from './filters.module.css'
import { OWNER_WORDS } from './owner-words.ts'
import { OWNER_KINDS, type TableSearch } from './table-search.ts'

const HEALTHS: readonly LoadBalancerHealth[] = ['failed', 'degraded', 'pending', 'ok', 'off']

interface Props {
  readonly search: TableSearch
  readonly counts: Readonly<Record<LoadBalancerHealth, number>>
  readonly onChange: (search: TableSearch) => void
}

/** What narrows the table. All of it is in the URL. */
export function Filters({ search, counts, onChange }: Props) {
  const { may } = useSession()
  const [text, setText] = useState(search.text ?? '')
  const owner = OWNER_KINDS.find((kind) => kind === search.owner) ?? ''
  return (
    <search className={styles.filters} aria-label="Filters">
      <div className={styles.text}>
        <TextInput
          aria-label="Name, address or owner"
          placeholder="Name, address or owner"
          type="search"
          value={text}
          onChange={(next) => {
            setText(next)
            onChange({ ...search, text: next === '' ? undefined : next })
          }}
        />
      </div>
      <HealthFilter search={search} counts={counts} onChange={onChange} />
      <Choice
        label="Made by"
        isLabelHidden
        value={owner}
        onChange={(value) => onChange({ ...search, owner: OWNER_KINDS.find((kind) => kind === value) })}
        options={[
          { value: '', text: 'Made by anyone' },
          ...OWNER_KINDS.map((kind) => ({ value: kind, text: OWNER_WORDS[kind] })),
        ]}
      />
      {may.operate && <ProjectFilter search={search} onChange={onChange} />}
    </search>
  )
}

const HealthFilter = ({ search, counts, onChange }: Props) => (
  <fieldset className={styles.healths}>
    <legend className={styles.legend}>Health</legend>
    {HEALTHS.map((health) => {
      const isOn = search.health === health
      return (
        <button
          key={health}
          type="button"
          className={styles.health}
          aria-pressed={isOn}
          onClick={() => onChange({ ...search, health: isOn ? undefined : health })}
        >
          <Mark tone={HEALTH_TONES[health]} />
          {HEALTH_WORDS[health]} <span className={styles.count}>{counts[health].toLocaleString()}</span>
        </button>
      )
    })}
  </fieldset>
)

function ProjectFilter({ search, onChange }: Pick<Props, 'search' | 'onChange'>) {
  const { data: projects = [] } = useQuery({
    queryKey: keys.of('project'),
    queryFn: ({ signal }) => listProjects(signal),
  })
  return (
    <Choice
      label="Project"
      isLabelHidden
      value={search.project ?? ''}
      onChange={(value) => onChange({ ...search, project: value === '' ? undefined : value })}
      options={[
        { value: '', text: 'All projects' },
        ...projects.map(({ id, name }) => ({ value: id, text: name || id })),
      ]}
    />
  )
}
