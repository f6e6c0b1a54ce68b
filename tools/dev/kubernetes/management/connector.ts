import { writeFileSync } from 'node:fs'
import type { Lab, SystemAccess } from '@spout/testkit'
import {
  connectorConfigFile,
  directoryOf,
  LEADS_ALONE,
  makeCredential,
  writeKubeconfig,
  writeSecret,
} from '../connector.ts'
import { CLUSTER } from './cluster.ts'

/** The connector of the provider's cluster. */
export const CONNECTOR = `connector-${CLUSTER}`
/** The manifests of its account's rights: the provider chooses projects by labels of namespaces. */
export const ACCESS_MANIFESTS = ['connector', 'connector-ingress', 'connector-namespaces'].map(
  (name) => `deploy/kubernetes/${name}-access.yaml`,
)
/** The tenant's credential for this connector; the secret is shown once. */
export const CREDENTIAL_COMMAND = `application credential create ${CLUSTER} --role balancer`

type Server = Parameters<typeof writeKubeconfig>[1]

/** Writes the settings: one project, for the namespaces with its tenant's label. */
export async function writeSettings(lab: Lab, access: SystemAccess, server: Server, token: string): Promise<void> {
  const credential = await makeCredential(access, CREDENTIAL_COMMAND)
  const directory = directoryOf(lab, CONNECTOR)
  const text = [
    'spout:',
    `  endpoint: ${access.endpoint}`,
    'projects:',
    '  - name: acme',
    '    namespaceLabels: {spout.dev/tenant: acme}',
    `    applicationCredentialId: ${credential.id}`,
    `    applicationCredentialSecretFile: ${writeSecret(directory, credential)}`,
    'kubernetes:',
    `  kubeconfig: ${writeKubeconfig(directory, server, token)}`,
    ...LEADS_ALONE,
    'http:',
    '  host: 127.0.0.1',
    '  port: 0',
  ].join('\n')
  writeFileSync(connectorConfigFile(lab, CONNECTOR), `${text}\n`)
}
