import { waitFor } from '@spout/testkit'
import type { InClusterLab } from './in-cluster-lab.ts'

/**
 * What the pods of workload `web` see of one client of a Service: its addresses. Asks until each of them has answered.
 */
export async function seenClients(lab: InClusterLab, service: string): Promise<ReadonlySet<string>> {
  const address = await lab.answering(service)
  const pods = new Set((await lab.cluster.pods('app=web')).map(({ metadata }) => metadata.name))
  const clients = new Set<string>()
  await waitFor(
    async () => {
      const answer = await lab.ask(address)
      if (answer !== null) {
        clients.add(answer.client.replace('::ffff:', ''))
        pods.delete(answer.pod)
      }
      return pods.size === 0
    },
    { what: `every pod of ${service} to answer` },
  )
  return clients
}
