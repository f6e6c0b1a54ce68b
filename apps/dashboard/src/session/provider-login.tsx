import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { Problem } from '../api/problem.ts'
import { keys } from '../api/query-keys.ts'
import { Button } from '../parts/button.tsx'
import { ProblemBox } from '../parts/problem-box.tsx'
import { takePlace } from './place-before.ts'
import { answerIn, type ProviderAnswer } from './provider-answer.ts'
import styles from './provider-login.module.css'
import { goToProvider, logIn, readLoginWays } from './session-calls.ts'

/** The name of the OpenID Connect provider; null: there is none, or it is not known yet. */
export function useProviderName(): string | null {
  const { data } = useQuery({
    queryKey: keys.loginWays,
    queryFn: ({ signal }) => readLoginWays(signal),
    staleTime: Number.POSITIVE_INFINITY,
  })
  return data?.oidc?.name ?? null
}

/** Logs in by the OpenID Connect provider, where there is one, and says what came of it when the browser is back. */
export function ProviderLogin() {
  const name = useProviderName()
  const back = useReturn()
  const leave = useMutation({ mutationFn: goToProvider })
  const problem = leave.error ?? back.error
  return (
    <>
      {problem !== null && <ProblemBox error={problem} />}
      {name !== null && (
        <>
          <p className={styles.or}>or</p>
          <Button
            isWide
            onPress={() => leave.mutate()}
            isPending={leave.isPending || leave.isSuccess || back.isPending}
          >
            <span>
              Log in with <bdi>{name}</bdi>
            </span>
          </Button>
        </>
      )}
    </>
  )
}

/** Opens the session when the provider has sent the browser back, and goes to where the page was before. */
function useReturn(): { readonly error: Error | null; readonly isPending: boolean } {
  const client = useQueryClient()
  const { history } = useRouter()
  const [answer] = useState(() => answerIn(window.location))
  const isTaken = useRef(false)
  const { mutate, error, isPending } = useMutation({
    mutationFn: (given: ProviderAnswer) => logIn(codeIn(given)),
    onSuccess: (session) => {
      history.replace(takePlace())
      client.setQueryData(keys.session, session)
    },
  })
  useEffect(() => {
    if (answer === null || isTaken.current) return
    isTaken.current = true
    // The code counts once, and has no business in an address that is copied or loaded again. `/ui/` would lead on to this
    // page, perhaps only after the login has gone to where the page was before.
    history.replace('/ui/load-balancers')
    mutate(answer)
  }, [answer, history, mutate])
  return { error, isPending }
}

/** @throws Problem when the provider let nobody in */
function codeIn(answer: ProviderAnswer): Exclude<ProviderAnswer, { readonly error: string }> {
  if ('error' in answer) throw new Problem(403, `The login there was not completed: ${answer.error}`, 'Forbidden')
  return answer
}
