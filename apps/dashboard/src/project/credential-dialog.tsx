import type { Role } from '@spout/model'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { createCredential } from '../api/application-credentials.ts'
import { Problem, reasonAtField } from '../api/problem.ts'
import { keys } from '../api/query-keys.ts'
import { Button } from '../parts/button.tsx'
import { Choice } from '../parts/choice.tsx'
import { Command } from '../parts/command.tsx'
import { Dialog, DialogActions } from '../parts/dialog.tsx'
import { ProblemBox } from '../parts/problem-box.tsx'
import { TextInput } from '../parts/text-input.tsx'
import { useSession } from '../session/session-context.ts'
import { expiryAfter, LIFETIMES, rolesToPassOn } from './credential-draft.ts'
import styles from './project.module.css'

/** Makes an application credential, and shows its secret, which is nowhere kept. */
export function CredentialDialog({ onClose }: { readonly onClose: () => void }) {
  const client = useQueryClient()
  const creation = useMutation({
    mutationFn: createCredential,
    // The secret is forgotten with the dialog.
    gcTime: 0,
    onSuccess: () => void client.invalidateQueries({ queryKey: keys.of('applicationCredential') }),
  })
  const { data: made } = creation
  return made === undefined ? (
    <Dialog title="Create application credential" isOpen onClose={onClose}>
      <DraftForm creation={creation} onCancel={onClose} />
    </Dialog>
  ) : (
    // Only the button closes it: a stray key would lose the secret.
    <Dialog title="The application credential is made" isOpen>
      <p>The secret is shown this once. Keep it where the program finds it.</p>
      <Command title="Id" text={made.id} />
      <Command title="Secret" text={made.secret} />
      <DialogActions>
        <Button variant="primary" onPress={onClose}>
          I have kept it
        </Button>
      </DialogActions>
    </Dialog>
  )
}

interface FormProps {
  readonly creation: {
    readonly error: Error | null
    readonly isPending: boolean
    mutate(draft: Parameters<typeof createCredential>[0]): void
  }
  readonly onCancel: () => void
}

function DraftForm({ creation: { error, isPending, mutate }, onCancel }: FormProps) {
  const { roles } = useSession()
  const offered = rolesToPassOn(roles)
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>(offered[0] ?? 'reader')
  const [days, setDays] = useState('30')
  const errorAt = (field: string): string | null =>
    error instanceof Problem && error.fields.some((wrong) => wrong.startsWith(field)) ? reasonAtField(error) : null
  const isElsewhere = error !== null && ['name', 'roles', 'expiresAt'].every((field) => errorAt(field) === null)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    const expiresAt = expiryAfter(days === '' ? null : Number(days), Date.now())
    mutate({ name, description: '', roles: [role], expiresAt })
  }
  return (
    <form className={styles.part} onSubmit={submit}>
      <TextInput label="Name" value={name} onChange={setName} error={errorAt('name')} autoFocus />
      <Choice
        label="Role"
        options={offered.map((one) => ({ value: one, text: one }))}
        value={role}
        onChange={(value) => setRole(value as Role)}
        error={errorAt('roles')}
        hint="What the program may do. A balancer may only change load balancers and certificates."
      />
      <Choice
        label="Valid"
        options={LIFETIMES.map((one) => ({ value: String(one.days ?? ''), text: one.text }))}
        value={days}
        onChange={setDays}
        error={errorAt('expiresAt')}
      />
      {isElsewhere && <ProblemBox error={error} />}
      <DialogActions>
        <Button onPress={onCancel}>Cancel</Button>
        <Button type="submit" variant="primary" isPending={isPending} isDisabled={name.trim() === ''}>
          Create
        </Button>
      </DialogActions>
    </form>
  )
}
