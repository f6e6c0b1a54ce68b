import { collectionPath, isNotFound, KubeError, NAMESPACES, type Resource, type Transport } from '@spout/kube'
import { GATEWAY_CLASSES, GATEWAYS, HTTP_ROUTES, REFERENCE_GRANTS } from '../objects/resources.ts'

const NEEDED: readonly Resource[] = [GATEWAY_CLASSES, GATEWAYS, HTTP_ROUTES, REFERENCE_GRANTS, NAMESPACES]

/**
 * Why Gateways cannot be read: a kind is not installed, or RBAC does not let us. Null when they can.
 * @throws Error when the API server does not answer
 */
export async function whyUnreadable(transport: Transport, signal?: AbortSignal): Promise<string | null> {
  for (const resource of NEEDED)
    try {
      const path = collectionPath(resource)
      await transport.request({ method: 'GET', path, query: { limit: 1 }, ...(signal === undefined ? {} : { signal }) })
    } catch (error) {
      if (isNotFound(error)) return `${resource.kind} of ${resource.apiVersion} is not installed`
      if (error instanceof KubeError && error.status === 403) return `RBAC does not let us list ${resource.plural}`
      throw error
    }
  return null
}
