import { type Kubernetes, type KubernetesCluster, type KubernetesList, waitFor } from '@spout/testkit'
import { SERVICES } from './objects.ts'

interface ShownService extends Kubernetes.KubernetesObject {
  readonly status?: {
    readonly conditions?: readonly Kubernetes.Condition[]
    readonly loadBalancer?: { readonly ingress?: readonly unknown[] }
  }
}

type Page = KubernetesList<ShownService> & { readonly metadata: { readonly continue?: string } }

const PAGE = 500

const isProgrammed = ({ status }: ShownService): boolean =>
  (status?.conditions ?? []).some(({ type, status: state }) => type === 'spout.dev/Programmed' && state === 'True')

/** Waits until the Service's condition says that it is programmed. */
export const untilProgrammed = ({ api }: KubernetesCluster, name: string): Promise<boolean> =>
  waitFor(async () => isProgrammed(await api.get<ShownService>(`${SERVICES}/${name}`)), {
    what: `${name} to be programmed`,
    timeoutMs: 30_000,
    everyMs: 20,
  })

const hasAddress = ({ status }: ShownService): boolean => (status?.loadBalancer?.ingress ?? []).length > 0

/** How many Services are programmed. */
export const countProgrammed = (cluster: KubernetesCluster): Promise<number> => count(cluster, isProgrammed)

/** How many Services have an address. */
export const countAddressed = (cluster: KubernetesCluster): Promise<number> => count(cluster, hasAddress)

async function count({ api }: KubernetesCluster, which: (service: ShownService) => boolean): Promise<number> {
  let found = 0
  let from = ''
  do {
    const page: Page = await api.request('GET', `${SERVICES}?limit=${PAGE}${from}`, { timeoutMs: 60_000 })
    found += page.items.filter(which).length
    from = page.metadata.continue ? `&continue=${encodeURIComponent(page.metadata.continue)}` : ''
  } while (from !== '')
  return found
}
