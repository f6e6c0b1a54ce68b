import {
  collectionPath,
  isNotFound,
  type KubeObject,
  type ObjectList,
  type Resource,
  type Transport,
} from '@spout/kube'

/** Which objects of a kind; left out, all of them. */
export interface Selected {
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
}

/** What an account may do with a resource: the question of a SubjectAccessReview. */
export interface Right {
  readonly group: string
  /** With its subresource, such as `services/status`. */
  readonly resource: string
  readonly verb: string
  readonly namespace?: string
  readonly name?: string
}

/** The cluster that is looked at, as its API server answers. Nothing is changed. */
export interface ClusterPlace {
  /** Of the API server, such as `v1.36.1`. */
  readonly version: string
  /**
   * Reads each selection once, however many checks ask. @returns an empty list where the cluster lacks the kind
   * @throws KubeError, KubeUnreachable
   */
  list<T extends KubeObject>(resource: Resource<T>, selected?: Selected): Promise<readonly T[]>
  /** @param account `namespace/name` of a service account */
  may(account: string, right: Right): Promise<boolean>
}

const PAGE = 500

/** @throws KubeError, KubeUnreachable when the API server does not answer or takes no credential of ours */
export async function openCluster(transport: Transport): Promise<ClusterPlace> {
  // One attempt: somebody waits for the answer.
  const asked = { method: 'GET', path: '/version', retry: false } as const
  const { gitVersion } = await transport.request<{ readonly gitVersion: string }>(asked)
  const lists = new Map<string, Promise<readonly KubeObject[]>>()
  return {
    version: gitVersion,
    list: <T extends KubeObject>(resource: Resource<T>, selected: Selected = {}) => {
      const key = JSON.stringify([collectionPath(resource, selected.namespace), selected])
      const known = lists.get(key) ?? wholeList(transport, resource, selected)
      lists.set(key, known)
      return known as Promise<readonly T[]>
    },
    may: (account, right) => may(transport, account, right),
  }
}

async function wholeList<T extends KubeObject>(
  transport: Transport,
  resource: Resource<T>,
  { namespace, ...selectors }: Selected,
): Promise<readonly T[]> {
  const items: T[] = []
  let next: string | undefined
  do {
    const query = { ...selectors, limit: PAGE, continue: next }
    const path = collectionPath(resource, namespace)
    const page = await transport
      .request<ObjectList<T>>({ method: 'GET', path, query })
      .catch((error: unknown): ObjectList<T> => {
        if (isNotFound(error)) return { metadata: {}, items: [] }
        throw error
      })
    // Objects in a list lack their kind.
    items.push(...(page.items ?? []).map((item) => ({ ...item, kind: resource.kind })))
    next = page.metadata.continue || undefined
  } while (next !== undefined)
  return items
}

async function may(transport: Transport, account: string, right: Right): Promise<boolean> {
  const [resource, subresource] = right.resource.split('/')
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: {
      user: `system:serviceaccount:${account.replace('/', ':')}`,
      groups: ['system:authenticated', 'system:serviceaccounts', `system:serviceaccounts:${account.split('/')[0]}`],
      resourceAttributes: { ...right, resource, ...(subresource && { subresource }) },
    },
  }
  const { status } = await transport.request<{ readonly status: { readonly allowed: boolean } }>({
    ...{ method: 'POST', path: '/apis/authorization.k8s.io/v1/subjectaccessreviews', body: review },
    // A question: nothing is stored.
    idempotent: true,
  })
  return status.allowed
}
