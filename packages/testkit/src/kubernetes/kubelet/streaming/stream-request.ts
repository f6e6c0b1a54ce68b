/** A command in a container: `/exec/NAMESPACE/POD/CONTAINER`. */
export interface ExecRequest {
  readonly kind: 'exec'
  readonly namespace: string
  readonly pod: string
  readonly container: string
  readonly command: readonly string[]
  /** The streams that the client opens, of which `error` tells how the command ended. */
  readonly streams: ReadonlySet<string>
}

/** Connections to ports of a pod: `/portForward/NAMESPACE/POD`. */
export interface ForwardRequest {
  readonly kind: 'forward'
  readonly namespace: string
  readonly pod: string
}

export type StreamRequest = ExecRequest | ForwardRequest

/** The version of each protocol that is spoken here, of those that the API server offers. */
export const PROTOCOLS: Readonly<Record<StreamRequest['kind'], string>> = {
  exec: 'v4.channel.k8s.io',
  forward: 'portforward.k8s.io',
}

/** Names of streams by the option that asks for each. */
const STREAMS = { input: 'stdin', output: 'stdout', error: 'stderr' } as const

/** @returns null for another path @throws Error naming what the test bed does not do */
export function readStreamRequest({ pathname, searchParams }: URL): StreamRequest | null {
  const [, root, namespace, pod, container, ...rest] = pathname.split('/').map(decodeURIComponent)
  if (!namespace || !pod || rest.length > 0) return null
  if (root === 'portForward' && container === undefined) return { kind: 'forward', namespace, pod }
  if (root !== 'exec' || !container) return null
  const isAsked = (name: string): boolean => ['1', 'true'].includes(searchParams.get(name) ?? '')
  if (isAsked('tty')) throw new Error('tty: the test bed has no terminals; leave out --tty (-t)')
  const command = searchParams.getAll('command')
  if (command.length === 0) throw new Error('command: is missing')
  const asked = Object.entries(STREAMS).flatMap(([option, stream]) => (isAsked(option) ? [stream] : []))
  return { kind: 'exec', namespace, pod, container, command, streams: new Set(['error', ...asked]) }
}
