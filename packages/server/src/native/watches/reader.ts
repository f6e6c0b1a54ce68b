import type { ChangedObject, Principal } from '@spout/admission/contract'
import { SpoutError } from '@spout/model'
import type { Timer } from '@spout/runtime'
import { sessionOf } from '../../authn/authenticate.ts'
import { credentialOf } from '../../authn/grant.ts'
import type { NativeContext } from '../operations/context.ts'
import type { Call } from '../operations/route.ts'

/**
 * The reader of a stream. A stream is open for days, so its reader is checked again whenever its user, token, project
 * or application credential changes, and when the token expires.
 */
export interface Reader {
  /** Aborts when the reader lost its access. */
  readonly lost: AbortSignal
  /** The error; null until then. */
  readonly refusal: unknown
  stop(): void
}

/** Starts to follow the reader of a call. Call `stop` when the stream ends. */
export function followReader({ view, clock, authenticator }: NativeContext, call: Call<undefined>): Reader {
  const { token } = sessionOf(authenticator, call.request)
  const lost = new AbortController()
  let refusal: unknown = null
  const end = (reason: unknown) => {
    refusal ??= reason
    lost.abort()
  }
  const check = () => {
    try {
      if (!sameRights(call.principal, call.again()))
        end(new SpoutError('Forbidden', { reason: 'the roles of this token have changed, ask again' }))
    } catch (error) {
      end(error)
    }
  }
  const ids = new Map([
    ['user', token.userId],
    ['token', token.id],
    ['project', token.projectId],
    ['applicationCredential', credentialOf(token)],
  ])
  const isAboutReader = ({ kind, id }: ChangedObject): boolean => ids.get(kind) === id
  const unsubscribe = view.onChange((changed) => {
    if (changed.some(isAboutReader)) check()
  })
  // If the wall clock was set back, the check finds the token valid and sets the timer again.
  const untilExpiry = () => {
    const leftMs = Math.max(Date.parse(token.expiresAt) - clock.now().getTime(), SHORTEST_WAIT_MS)
    return clock.setTimer(() => {
      check()
      if (!lost.signal.aborted) timer = untilExpiry()
    }, leftMs)
  }
  let timer = untilExpiry()
  const { foreignSession } = call.request
  let isStopped = false
  // Nothing tells us that another identity service has revoked a token.
  const untilRenewal = (): Timer | null =>
    foreignSession === undefined
      ? null
      : clock.setTimer(() => {
          void foreignSession.renew().then(() => {
            check()
            if (!lost.signal.aborted && !isStopped) renewal = untilRenewal()
          })
        }, foreignSession.renewEveryMs)
  let renewal = untilRenewal()
  // Covers changes between the request's check and the subscription.
  check()
  return {
    lost: lost.signal,
    get refusal() {
      return refusal
    },
    stop: () => {
      unsubscribe()
      timer.clear()
      isStopped = true
      renewal?.clear()
    },
  }
}

const SHORTEST_WAIT_MS = 10

const sameRights = (before: Principal, now: Principal): boolean =>
  before.projectId === now.projectId &&
  before.roles.length === now.roles.length &&
  before.roles.every((role) => now.roles.includes(role))
