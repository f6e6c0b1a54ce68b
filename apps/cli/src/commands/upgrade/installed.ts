import { ApiProblem, call, callWithHeaders, type Session } from '@spout/client/api'
import { Endpoints } from '@spout/client/endpoints'
import type { NodeConnection } from '@spout/model'
import type { StoreFormat } from '@spout/store'

/** A control plane, as it answers for itself. */
export interface InstalledControlPlane {
  readonly endpoint: string
  /** Null for one that does not know the question. */
  readonly version: string | null
  readonly leads: boolean
  readonly store: StoreFormat | null
}

export interface InstalledNode {
  readonly name: string
  readonly version: string | null
  readonly connection: NodeConnection
  readonly inSync: boolean
}

export interface InstalledConnector {
  readonly userName: string
  readonly projectId: string | null
  readonly version: string
}

/** What runs, as the installation reports it. */
export interface Installed {
  readonly controlPlanes: readonly InstalledControlPlane[]
  readonly nodes: readonly InstalledNode[]
  /** Those that called a control plane since its start. */
  readonly connectors: readonly InstalledConnector[]
}

interface ShownNode {
  readonly name: string
  /** Control planes before 0.1.0 show no version. */
  readonly status: Omit<InstalledNode, 'name' | 'version'> & { readonly version?: string | null }
}
type ShownConnector = InstalledConnector & { readonly lastSeenAt: string }
type ShownControlPlane = Omit<InstalledControlPlane, 'endpoint' | 'version'> & {
  readonly version: string
  readonly connectors: readonly ShownConnector[]
}

/**
 * Asks each control plane for itself, and one of them for the nodes.
 * @param further URLs of control planes that the session does not name
 * @throws ApiProblem when the token is not an administrator's; SpoutError Unavailable with the endpoint
 */
export async function readInstalled(session: Session, further: readonly string[]): Promise<Installed> {
  // First what only administrators may read: others are refused at once.
  const { items } = await call<{ readonly items: readonly ShownNode[] }>(session, 'GET', '/nodes')
  const asked = [...new Set([...session.endpoints.urls, ...further])]
  const answers = await Promise.all(
    asked.map(async (endpoint) => ({
      endpoint,
      shown: await askedOf({ ...session, endpoints: new Endpoints([endpoint]) }),
    })),
  )
  return {
    controlPlanes: answers.map(({ endpoint, shown }) => ({
      endpoint,
      version: shown?.version ?? null,
      leads: shown?.leads ?? true,
      store: shown?.store ?? null,
    })),
    nodes: items.map(({ name, status: { version = null, connection, inSync } }) => ({
      ...{ name, version, connection, inSync },
    })),
    connectors: newest(answers.flatMap(({ shown }) => shown?.connectors ?? [])),
  }
}

/**
 * One that does not lead passes the question on, and says its own version beside the leader's answer.
 * @returns null: it is of a version that does not know the question
 */
async function askedOf(session: Session): Promise<ShownControlPlane | null> {
  try {
    const { answer, headers } = await callWithHeaders<ShownControlPlane>(session, 'GET', '/control-plane')
    const version = headers.get('spout-passed-on-by')
    return version === null ? answer : { ...answer, version, leads: false }
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return null
    throw error
  }
}

/** A connector may have called several control planes: what it said last counts. */
function newest(seen: readonly ShownConnector[]): readonly InstalledConnector[] {
  const inOrder = seen.toSorted((a, b) => a.lastSeenAt.localeCompare(b.lastSeenAt))
  const byUser = new Map(inOrder.map((one) => [`${one.projectId} ${one.userName}`, one]))
  return Array.from(byUser.values(), ({ userName, projectId, version }) => ({ userName, projectId, version }))
}
