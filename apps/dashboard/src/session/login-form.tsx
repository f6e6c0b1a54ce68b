import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { keys } from '../api/query-keys.ts'
import { Button } from '../parts/button.tsx'
import { ProblemBox } from '../parts/problem-box.tsx'
import { TabList, TabPanel, TabPanels, Tabs } from '../parts/tabs.tsx'
import { TextInput } from '../parts/text-input.tsx'
import styles from './login-form.module.css'
import { missingIn, refusalOf } from './login-words.ts'
import type { TypedLogin } from './page-session.ts'
import { logIn } from './session-calls.ts'

interface Props {
  /** The project to log in to, if it is known. */
  readonly projectId?: string | undefined
  readonly userName?: string
}

type Way = 'user' | 'credential'

/** Logs in with a user's password or with an application credential. */
export function LoginForm({ projectId, userName = '' }: Props) {
  const client = useQueryClient()
  const [way, setWay] = useState<Way>('user')
  const login = useMutation({
    mutationFn: async (typed: TypedLogin) => {
      const missing = missingIn(typed)
      if (missing !== null) throw new Error(missing)
      return logIn(typed)
    },
    onSuccess: (session) => client.setQueryData(keys.session, session),
  })
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    login.mutate(loginIn(new FormData(event.currentTarget), way, projectId))
  }
  return (
    <form className={styles.form} onSubmit={submit}>
      <Tabs
        selectedKey={way}
        onSelectionChange={(key) => {
          setWay(key as Way)
          login.reset()
        }}
      >
        <TabList
          label="How to log in"
          tabs={[
            { id: 'user', title: 'User' },
            { id: 'credential', title: 'Application credential' },
          ]}
        />
        <TabPanels>
          <TabPanel id="user" className={styles.fields}>
            <TextInput
              name="userName"
              label="User"
              autoComplete="username"
              isRequired
              defaultValue={userName}
              autoFocus
            />
            <TextInput name="password" label="Password" type="password" autoComplete="current-password" isRequired />
          </TabPanel>
          <TabPanel id="credential" className={styles.fields}>
            <TextInput name="applicationCredentialId" label="Id" autoComplete="off" isRequired autoFocus />
            <TextInput name="secret" label="Secret" type="password" autoComplete="off" isRequired />
          </TabPanel>
        </TabPanels>
      </Tabs>
      {login.error !== null && <ProblemBox error={refusalOf(login.error, login.variables)} />}
      <Button type="submit" variant="primary" isPending={login.isPending}>
        Log in
      </Button>
    </form>
  )
}

function loginIn(typed: FormData, way: Way, projectId: string | undefined): TypedLogin {
  const text = (name: string): string => String(typed.get(name) ?? '')
  if (way === 'credential')
    return { applicationCredentialId: text('applicationCredentialId').trim(), secret: text('secret') }
  return { userName: text('userName'), password: text('password'), ...(projectId !== undefined && { projectId }) }
}
