import { useMutation, useQueryClient } from '@tanstack/react-query'
import { keys } from '../api/query-keys.ts'
import { Brand } from '../parts/brand.tsx'
import { Button } from '../parts/button.tsx'
import { Name } from '../parts/name.tsx'
import { ProblemBox } from '../parts/problem-box.tsx'
import styles from './door-page.module.css'
import type { PageSession } from './page-session.ts'
import { logOut, switchProject } from './session-calls.ts'

/** Asks for the project, after a login without one. */
export function ProjectPage({ session: { projects, userName } }: { readonly session: PageSession }) {
  const client = useQueryClient()
  const choice = useMutation({
    mutationFn: switchProject,
    onSuccess: (session) => client.setQueryData(keys.session, session),
  })
  const leave = useMutation({ mutationFn: logOut, onSettled: () => client.resetQueries() })
  return (
    <main className={styles.page}>
      <title>Choose a project · Spout</title>
      <div className={styles.card}>
        <Brand />
        <h1 className={styles.title}>Choose a project</h1>
        <p className={styles.note}>
          <Name of={userName} />
          {projects.length === 0 ? ' has a role in no project. Ask your administrator for one.' : ' may use:'}
        </p>
        <ul className={styles.projects}>
          {projects.map(({ id, name }) => (
            <li key={id}>
              <Button isWide onPress={() => choice.mutate(id)} isPending={choice.isPending && choice.variables === id}>
                <Name of={name} />
              </Button>
            </li>
          ))}
        </ul>
        {choice.error !== null && <ProblemBox error={choice.error} />}
        <Button variant="quiet" onPress={() => leave.mutate()}>
          Log out
        </Button>
      </div>
    </main>
  )
}
