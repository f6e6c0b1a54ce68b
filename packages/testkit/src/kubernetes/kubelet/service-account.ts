import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { KubernetesApi } from '../api.ts'
import type { Pod } from '../objects.ts'

const TOKEN_SECONDS = 7200

/** Writes a token of the pod's service account, the authority's certificate and the namespace: what every pod finds. */
export async function writeServiceAccount(
  api: KubernetesApi,
  { metadata, spec }: Pod,
  directory: string,
): Promise<void> {
  const { namespace = '' } = metadata
  const { serviceAccountName: account = 'default' } = spec
  const { status } = await api.request<{ status: { token: string } }>(
    'POST',
    `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
    { body: { spec: { expirationSeconds: TOKEN_SECONDS } } },
  )
  mkdirSync(directory, { recursive: true })
  writeFileSync(path.join(directory, 'token'), status.token, { mode: 0o600 })
  writeFileSync(path.join(directory, 'ca.crt'), api.authority)
  writeFileSync(path.join(directory, 'namespace'), namespace)
}
