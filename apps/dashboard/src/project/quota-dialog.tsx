import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Problem, reasonAtField } from '../api/problem.ts'
import { keys } from '../api/query-keys.ts'
import { type ProjectQuota, type QuotaChange, setQuota } from '../api/quotas.ts'
import { useAnnounce } from '../parts/announcer.tsx'
import { Button } from '../parts/button.tsx'
import { Dialog, DialogActions } from '../parts/dialog.tsx'
import { Name } from '../parts/name.tsx'
import { ProblemBox } from '../parts/problem-box.tsx'
import { TextInput } from '../parts/text-input.tsx'
import styles from './project.module.css'
import {
  type LimitField,
  limitError,
  limitFields,
  pathOf,
  quotaChange,
  type TypedLimits,
  textOf,
} from './quota-draft.ts'
import { quotaRows } from './quota-rows.ts'
import { useClassRows } from './use-class-rows.ts'

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
  const classes = useClassRows(projectId, quota)
  // The limits as they were when the dialog opened: what others change meanwhile is not set back.
  const [before] = useState(quota)
  const [typed, setTyped] = useState<TypedLimits>({})
  const fields = limitFields(before, quotaRows(quota), classes.rows)
  const wanted = quotaChange(fields, typed)
  const change = useMutation({
    mutationFn: (limits: QuotaChange) => setQuota(projectId, limits),
    onSuccess: async () => {
      announce(`The quota of ${name} is set.`)
      onClose()
      await client.invalidateQueries({ queryKey: keys.of('quota', projectId) })
    },
  })
  const errorOf = (field: LimitField): string | null =>
    limitError(field, typed) ?? refusalOf(change.error, pathOf(field))
  const isWrong = fields.some((field) => limitError(field, typed) !== null)
  const isElsewhere = change.error !== null && fields.every((field) => errorOf(field) === null)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (!isWrong && wanted !== null) change.mutate(wanted)
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
          {fields.map((field) => (
            <TextInput
              key={pathOf(field)}
              label={field.title}
              inputMode="numeric"
              value={textOf(field, typed)}
              onChange={(text) => {
                setTyped({ ...typed, [pathOf(field)]: text })
                change.reset()
              }}
              error={errorOf(field)}
              hint={`${field.used.toLocaleString('en')} in use`}
            />
          ))}
        </div>
        <p className={styles.soft}>What is in use stays, also beyond a lowered limit: only more is refused.</p>
        {classes.rows.length > 0 && (
          <p className={styles.soft}>
            A class whose limit is empty has none of its own: only that of load balancers counts. With 0 the project may
            not use it.
          </p>
        )}
        {classes.error !== null && <ProblemBox error={classes.error} />}
        {isElsewhere && <ProblemBox error={change.error} />}
        <DialogActions>
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" isPending={change.isPending} isDisabled={isWrong || wanted === null}>
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
