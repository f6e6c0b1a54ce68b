import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useBlocker, useNavigate } from '@tanstack/react-router'
import { type FC, type FormEvent, useState } from 'react'
import { createLoadBalancer } from '../../api/load-balancers.ts'
import { listAddressPools, listNetworks } from '../../api/networks.ts'
import { Problem, reasonAtField } from '../../api/problem.ts'
import { keys } from '../../api/query-keys.ts'
import { useAnnounce } from '../../parts/announcer.tsx'
import { Button } from '../../parts/button.tsx'
import { Page } from '../../parts/page.tsx'
import { ProblemBox } from '../../parts/problem-box.tsx'
import { ForbiddenPage } from '../../parts/status-page.tsx'
import { useSession } from '../../session/session-context.ts'
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
  useBlocker({
    shouldBlockFn: () =>
      typed !== EMPTY_FORM && !creation.isSuccess && !window.confirm('Leave without creating the load balancer?'),
    enableBeforeUnload: typed !== EMPTY_FORM && !creation.isSuccess,
  })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    const made = creationOf(form)
    setErrors('errors' in made ? made.errors : {})
    if ('draft' in made) creation.mutate(made.draft)
  }
  const isElsewhere = creation.error instanceof Problem && !creation.error.fields.some(formFieldOf)
  return (
    <Page title="Create load balancer" above={<Link to="/load-balancers">Load balancers</Link>}>
      <form className={styles.form} onSubmit={submit} noValidate>
        <CreateFields
          form={form}
          errors={errors}
          places={places}
          onChange={(change) => setTyped({ ...form, ...change })}
        />
        {isElsewhere && <ProblemBox error={creation.error} />}
        <div className={styles.actions}>
          <Button type="submit" variant="primary" isPending={creation.isPending}>
            Create
          </Button>
        </div>
      </form>
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
    onError: (error) => {
      if (!(error instanceof Problem)) return
      const fields = error.fields.flatMap((field) => formFieldOf(field) ?? [])
      setErrors(Object.fromEntries(fields.map((field) => [field, reasonAtField(error)])))
    },
  })
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
