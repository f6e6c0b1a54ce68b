import type { Transport } from '../transport/transport.ts'

/** The holder of a service account's token, according to the API server. */
export interface ReviewedAccount {
  readonly namespace: string
  readonly name: string
  /** The existing pod to which the token is bound; null for a token that is not bound to one. */
  readonly pod: { readonly name: string; readonly uid: string } | null
  /** The pod's node; null when the token is bound to no pod, or the API server is older than 1.30. */
  readonly node: string | null
}

interface TokenReview {
  readonly status?: {
    readonly authenticated?: boolean
    readonly audiences?: readonly string[]
    readonly user?: {
      readonly username?: string
      readonly extra?: Readonly<Record<string, readonly string[]>>
    }
  }
}

const PATH = '/apis/authentication.k8s.io/v1/tokenreviews'
const ACCOUNT = /^system:serviceaccount:([a-z0-9-]{1,63}):([a-z0-9.-]{1,253})$/
const EXTRA = 'authentication.kubernetes.io/'

/**
 * Asks the API server whose token this is. The token of a deleted pod or account is invalid.
 *
 * @param audience the audience that the token must have. So a token for the API server is not valid for us, and a token
 * for us not for the API server
 * @returns null for a token that is invalid, not for the audience, or not of a service account
 * @throws KubeError, KubeUnreachable when the API server does not answer
 */
export async function reviewToken(
  transport: Transport,
  { token, audience, deadlineMs }: { readonly token: string; readonly audience: string; readonly deadlineMs?: number },
): Promise<ReviewedAccount | null> {
  const body = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    spec: { token, audiences: [audience] },
  }
  const { status = {} } = await transport.request<TokenReview>({
    method: 'POST',
    path: PATH,
    body,
    // A review changes nothing.
    idempotent: true,
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  })
  // An authenticator that does not support audiences returns none. Then the token may not be meant for us.
  if (status.authenticated !== true || status.audiences?.includes(audience) !== true) return null
  const [, namespace, name] = ACCOUNT.exec(status.user?.username ?? '') ?? []
  if (namespace === undefined || name === undefined) return null
  const only = (key: string): string | null => {
    const values = status.user?.extra?.[`${EXTRA}${key}`] ?? []
    return values.length === 1 ? (values[0] ?? null) : null
  }
  const [podName, podUid] = [only('pod-name'), only('pod-uid')]
  const pod = podName === null || podUid === null ? null : { name: podName, uid: podUid }
  return { namespace, name, pod, node: pod === null ? null : only('node-name') }
}
