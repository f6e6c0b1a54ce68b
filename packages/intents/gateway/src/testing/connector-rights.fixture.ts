import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { KubeObject } from '@spout/kube'
import { type KubernetesApi, THIS_CHECKOUT } from '@spout/testkit'
import { parseAllDocuments } from 'yaml'

const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const SHIPPED = ['connector-access.yaml', 'connector-gateways-access.yaml'] as const

/** Where objects of the shipped files are made, by kind. */
const COLLECTIONS: Readonly<Record<string, string>> = {
  Namespace: '/api/v1/namespaces',
  ServiceAccount: '/api/v1/namespaces/spout/serviceaccounts',
  ClusterRole: `${RBAC}/clusterroles`,
  ClusterRoleBinding: `${RBAC}/clusterrolebindings`,
  Role: `${RBAC}/namespaces/spout/roles`,
  RoleBinding: `${RBAC}/namespaces/spout/rolebindings`,
}

/**
 * Applies the files that an operator applies, and what the owner of a namespace adds for a Secret.
 * @returns a token with these rights and no others
 */
export async function connectorToken(
  api: KubernetesApi,
  secret: { readonly namespace: string; readonly name: string },
): Promise<string> {
  for (const file of SHIPPED)
    for (const document of parseAllDocuments(
      readFileSync(path.join(THIS_CHECKOUT, 'deploy/kubernetes', file), 'utf8'),
    )) {
      const object = document.toJS() as KubeObject & { readonly apiVersion: string; readonly kind: string }
      await api.apply(`${COLLECTIONS[object.kind]}/${object.metadata.name}`, object)
    }
  const own = `${RBAC}/namespaces/${secret.namespace}`
  const metadata = { name: 'certificates', namespace: secret.namespace }
  await api.create(`${own}/roles`, {
    metadata,
    rules: [
      { apiGroups: [''], resources: ['secrets'], resourceNames: [secret.name], verbs: ['get', 'watch'] },
      { apiGroups: [''], resources: ['configmaps'], resourceNames: ['ca', 'clients-ca'], verbs: ['get', 'watch'] },
    ],
  })
  await api.create(`${own}/rolebindings`, {
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'certificates' },
    subjects: [{ kind: 'ServiceAccount', name: 'connector', namespace: 'spout' }],
  })
  const { status } = await api.create<object & { readonly status?: { readonly token: string } }>(
    `${COLLECTIONS['ServiceAccount']}/connector/token`,
    { spec: { expirationSeconds: 3600 } } as object,
  )
  return status?.token ?? ''
}
