import type { ModelView } from '@spout/admission/contract'
import type { NetworkDirectory } from '../to-model/vip-request.ts'

/** The stored networks that a project may name. A public pool may be restricted to some projects. */
export function networkDirectory(view: ModelView, projectId: string): NetworkDirectory {
  const networks = () => view.list('network', { projectId })
  return {
    pool: (id) => {
      const pool = view.get('addressPool', id)?.value
      return pool !== undefined && (pool.projectIds === null || pool.projectIds.includes(projectId)) ? pool : null
    },
    network: (id) => networks().find((network) => network.id === id) ?? null,
    subnet: (id) => {
      for (const network of networks()) {
        const subnet = network.subnets.find((candidate) => candidate.id === id)
        if (subnet !== undefined) return { network, subnet }
      }
      return null
    },
    port: (id) => {
      const address = view.addressByPort(id)
      return address !== null && address.projectId === projectId ? address : null
    },
  }
}
