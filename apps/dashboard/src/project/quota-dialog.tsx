import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Problem, reasonAtField } from '../api/problem.ts'
import { keys } from '../api/query-keys.ts'
import { type ProjectQuota, setQuota } from '../api/quotas.ts'
import { useAnnounce } from '../parts/announcer.tsx'
import { Button } from '../parts/button.tsx'
import { Dialog, DialogActions } from '../parts/dialog.tsx'
import { Name } from '../parts/name.tsx'
import { ProblemBox } from '../parts/problem-box.tsx'
import { TextInput } from '../parts/text-input.tsx'
import styles from './project.module.css'
import { changedLimits, limitError, type TypedLimits } from './quota-draft.ts'
import { type QuotaRow, quotaRows } from './quota-rows.ts'

interface Props {
  readonly projectId: string
  readonly name: string
  readonly quota: ProjectQuota
  readonly onClose: () => void
}

/** Sets the limits of a project. What it uses already stays, also beyond a lowered limit. */
export function QuotaDialog({ projectId, name, quota, onClose }: Props) {
  const client = useQueryClient()
  const announce = useAnnounce()
  // The limits as they were when the dialog opened: what others change meanwhile is not set back.
  const [before] = useState(quota.limits)
  const [typed, setTyped] = useState<TypedLimits>({})
  const change = useMutation({
    mutationFn: () => setQuota(projectId, changedLimits(typed, before)),
    onSuccess: async () => {
      announce(`The quota of ${name} is set.`)
      onClose()
      await client.invalidateQueries({ queryKey: keys.of('quota', projectId) })
    },
  })
  const textOf = ({ resource }: QuotaRow): string => typed[resource] ?? String(before[resource])
  const errorOf = (row: QuotaRow): string | null =>
    limitError(row.resource, textOf(row)) ?? refusalOf(change.error, `limits.${row.resource}`)
  const rows = quotaRows(quota)
  const isWrong = rows.some((row) => limitError(row.resource, textOf(row)) !== null)
  const isElsewhere = change.error !== null && rows.every((row) => errorOf(row) === null)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (!isWrong) change.mutate()
  }
  return (
    <Dialog
      title={
        <>
          Quota of <Name of={name} or={projectId} />
        </>
      }
      isOpen
      isWide
      onClose={onClose}
    >
      <form className={styles.part} onSubmit={submit}>
        <div className={styles.quotas}>
          {rows.map((row) => (
            <TextInput
              key={row.resource}
              label={row.resource === 'bytes' ? `${row.title} (bytes)` : row.title}
              inputMode="numeric"
              value={textOf(row)}
              onChange={(text) => {
                setTyped({ ...typed, [row.resource]: text })
                change.reset()
              }}
              error={errorOf(row)}
              hint={`${row.used.toLocaleString('en')} in use`}
            />
          ))}
        </div>
        <p className={styles.soft}>What is in use stays, also beyond a lowered limit: only more is refused.</p>
        {isElsewhere && <ProblemBox error={change.error} />}
        <DialogActions>
          <Button onPress={onClose}>Cancel</Button>
          <Button
            type="submit"
            variant="primary"
            isPending={change.isPending}
            isDisabled={isWrong || Object.keys(changedLimits(typed, before)).length === 0}
          >
            Set quota
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

/** What the API said of one field; null where it refused another one, or nothing. */
const refusalOf = (error: Error | null, field: string): string | null =>
  error instanceof Problem && error.fields.includes(field) ? reasonAtField(error) : null
