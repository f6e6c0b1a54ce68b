import { type Kubernetes, type KubernetesCluster, type KubernetesList, waitFor } from '@spout/testkit'
import { SERVICES } from './objects.ts'

interface ShownService extends Kubernetes.KubernetesObject {
  readonly status?: { readonly conditions?: readonly Kubernetes.Condition[] }
}

type Page = KubernetesList<ShownService> & { readonly metadata: { readonly continue?: string } }

const PAGE = 500

const isProgrammed = ({ status }: ShownService): boolean =>
  (status?.conditions ?? []).some(({ type, status: state }) => type === 'spout.dev/Programmed' && state === 'True')

/** Waits until a Service says that it is programmed. */
export const untilProgrammed = ({ api }: KubernetesCluster, name: string): Promise<boolean> =>
  waitFor(async () => isProgrammed(await api.get<ShownService>(`${SERVICES}/${name}`)), {
    what: `${name} to be programmed`,
    timeoutMs: 30_000,
    everyMs: 20,
  })

/** How many Services say so. */
export async function countProgrammed({ api }: KubernetesCluster): Promise<number> {
  let count = 0
  let from = ''
  do {
    const page: Page = await api.request('GET', `${SERVICES}?limit=${PAGE}${from}`, { timeoutMs: 60_000 })
    count += page.items.filter(isProgrammed).length
    from = page.metadata.continue ? `&continue=${encodeURIComponent(page.metadata.continue)}` : ''
  } while (from !== '')
  return count
}
