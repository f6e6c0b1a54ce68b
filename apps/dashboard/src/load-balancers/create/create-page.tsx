import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useBlocker, useNavigate } from '@tanstack/react-router'
import { type FC, type FormEvent, useState } from 'react'
import { createLoadBalancer } from '../../api/load-balancers.ts'
import { listAddressPools, listNetworks } from '../../api/networks.ts'
import { previewCreation } from '../../api/previews.ts'
import { Problem, reasonAtField } from '../../api/problem.ts'
import { keys } from '../../api/query-keys.ts'
import { useAnnounce } from '../../parts/announcer.tsx'
import { Button } from '../../parts/button.tsx'
import { Page } from '../../parts/page.tsx'
import { ProblemBox } from '../../parts/problem-box.tsx'
import { ForbiddenPage } from '../../parts/status-page.tsx'
import { useSession } from '../../session/session-context.ts'
import { PreviewDialog } from '../preview/preview-dialog.tsx'
import { CreateFields } from './create-fields.tsx'
import styles from './create-page.module.css'
import { type CreationForm, creationOf, EMPTY_FORM, type FormErrors, formFieldOf } from './creation.ts'
import { placesOf } from './places.ts'

/** Makes a load balancer for the usual cases. What it has no field for is added in the document afterwards. */
export const CreatePage: FC = () => {
  const { may } = useSession()
  return may.balance ? <CreateForm /> : <ForbiddenPage />
}

function CreateForm() {
  const [typed, setTyped] = useState<CreationForm>(EMPTY_FORM)
  const [errors, setErrors] = useState<FormErrors>({})
  const places = usePlaces()
  const [first] = places
  // Until somebody chooses, it is the first pool that there is.
  const form = typed.place === '' && first !== undefined ? { ...typed, place: first.value } : typed
  const creation = useCreation(setErrors)
  const previewing = useMutation({ mutationFn: previewCreation, onError: (error) => setErrors(errorsAtFields(error)) })
  useBlocker({
    shouldBlockFn: () =>
      typed !== EMPTY_FORM && !creation.isSuccess && !window.confirm('Leave without creating the load balancer?'),
    enableBeforeUnload: typed !== EMPTY_FORM && !creation.isSuccess,
  })
  const withDraft = (use: (draft: object) => void): void => {
    const made = creationOf(form)
    setErrors('errors' in made ? made.errors : {})
    for (const asked of [creation, previewing]) asked.reset()
    if ('draft' in made) use(made.draft)
  }
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    withDraft(creation.mutate)
  }
  const refusal = creation.error ?? previewing.error
  const isElsewhere = refusal instanceof Problem && !refusal.fields.some(formFieldOf)
  return (
    <Page title="Create load balancer" above={<Link to="/load-balancers">Load balancers</Link>}>
      <form className={styles.form} onSubmit={submit} noValidate>
        <CreateFields
          form={form}
          errors={errors}
          places={places}
          onChange={(change) => setTyped({ ...form, ...change })}
        />
        {isElsewhere && <ProblemBox error={refusal} />}
        <div className={styles.actions}>
          <Button onPress={() => withDraft(previewing.mutate)} isPending={previewing.isPending}>
            Preview
          </Button>
          <Button type="submit" variant="primary" isPending={creation.isPending}>
            Create
          </Button>
        </div>
      </form>
      {previewing.data !== undefined && (
        <PreviewDialog
          preview={previewing.data}
          action="Create"
          onClose={previewing.reset}
          onApply={() => withDraft(creation.mutate)}
        />
      )}
    </Page>
  )
}

function useCreation(setErrors: (errors: FormErrors) => void) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const announce = useAnnounce()
  return useMutation({
    mutationFn: createLoadBalancer,
    onSuccess: async ({ id, name }) => {
      announce(`${name} is created.`)
      void client.invalidateQueries({ queryKey: ['rows'] })
      await navigate({ to: '/load-balancers/$id', params: { id }, ignoreBlocker: true })
    },
    onError: (error) => setErrors(errorsAtFields(error)),
  })
}

/** A refusal, at the fields that it names. */
function errorsAtFields(error: Error): FormErrors {
  if (!(error instanceof Problem)) return {}
  const fields = error.fields.flatMap((field) => formFieldOf(field) ?? [])
  return Object.fromEntries(fields.map((field) => [field, reasonAtField(error)]))
}

function usePlaces() {
  const { data: pools = [] } = useQuery({
    queryKey: keys.of('addressPool'),
    queryFn: ({ signal }) => listAddressPools(signal),
  })
  const { data: networks = [] } = useQuery({
    queryKey: keys.of('network'),
    queryFn: ({ signal }) => listNetworks(signal),
  })
  const { projectId } = useSession()
  return placesOf(
    pools,
    networks.filter((network) => network.projectId === projectId),
  )
}
