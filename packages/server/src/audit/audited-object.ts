import type { ModelView } from '@spout/admission/contract'
import type { Kind } from '@spout/model'
import { WrittenAnswer } from '@spout/runtime'

export type PathParams = Readonly<Record<string, string | undefined>>

const MAX_ID_LENGTH = 64
/** Parts of paths that name no kind: the surface and its version. */
const NO_KINDS: ReadonlySet<string> = new Set([
  '',
  'api',
  'identity',
  'network',
  'key-manager',
  'load-balancer',
  'lbaas',
  'octavia',
  'agent',
])
const isVersion = (word: string): boolean => /^v\d+(\.\d+)?$/.test(word)

/** The words of a route's pattern, from the first that names a kind. */
export const wordsOf = (pattern: string): readonly string[] =>
  pattern.split('/').filter((word) => !NO_KINDS.has(word) && !isVersion(word))

/** A route's words with the ids put in: `load-balancers/ID/pools/ID`. */
export const pathOf = (words: readonly string[], params: PathParams): string =>
  words.map((word) => (word.startsWith(':') ? (params[word.slice(1)] ?? '').slice(0, MAX_ID_LENGTH) : word)).join('/')

const KINDS: Readonly<Record<string, Kind>> = {
  'load-balancers': 'loadBalancer',
  loadbalancers: 'loadBalancer',
  networks: 'network',
  addresses: 'address',
  certificates: 'certificate',
  'application-credentials': 'applicationCredential',
  secrets: 'secret',
  containers: 'secretContainer',
  'security-groups': 'securityGroup',
}
/** Parts of load balancers that have paths of their own in the Octavia API. */
const PARTS: ReadonlySet<string> = new Set(['listeners', 'pools', 'healthmonitors', 'l7policies'])

/** The project of the object that a path names, while it exists. */
export function projectOf(view: ModelView, path: string): string | null {
  const [word = '', id = ''] = path.split('/')
  const uuid = uuidOf(id)
  const kind = KINDS[word]
  if (kind !== undefined) return projectIn(view.get(kind, uuid)?.value)
  if (word === 'projects') return view.get('project', uuid) === null ? null : uuid
  return loadBalancerOf(view, path)?.projectId ?? null
}

export interface OwnedLoadBalancer {
  readonly id: string
  readonly projectId: string
}

/** The load balancer of the part that a path begins with, such as `pools/ID/members/ID`, while both exist. */
export function loadBalancerOf(view: ModelView, path: string): OwnedLoadBalancer | null {
  const [word = '', id = ''] = path.split('/')
  const child = PARTS.has(word) ? view.child(uuidOf(id)) : null
  return (child && view.get('loadBalancer', child.loadBalancerId)?.value) ?? null
}

/** Some of OpenStack's clients write ids as 32 digits. */
const uuidOf = (id: string): string =>
  /^[0-9a-f]{32}$/.test(id) ? id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5') : id

/**
 * The objects in an answer: the one at its root (native API) or under its only name (OpenStack), or each of `results`.
 * It looks at `id` and the project only.
 */
export function objectsIn(answer: unknown): readonly { readonly id: string; readonly projectId: string | null }[] {
  if (!isRecord(answer)) return []
  if (answer instanceof WrittenAnswer) return objectsIn(answer.object)
  if (Array.isArray(answer.results)) return answer.results.flatMap((each: unknown) => objectsIn(each))
  if (typeof answer.id === 'string') return [{ id: answer.id, projectId: projectIn(answer) }]
  if (typeof answer.loadBalancerId === 'string' && !('error' in answer))
    return [{ id: answer.loadBalancerId, projectId: null }]
  const [only, ...more] = Object.values(answer)
  return more.length === 0 && isRecord(only) && typeof only.id === 'string' ? objectsIn(only) : []
}

function projectIn(value: unknown): string | null {
  if (!isRecord(value)) return null
  const projectId = value.projectId ?? value.project_id
  return typeof projectId === 'string' ? projectId : null
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
