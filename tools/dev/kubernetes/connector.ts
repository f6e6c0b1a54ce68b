import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import {
  type Daemon,
  type KubernetesCluster,
  type Lab,
  must,
  PRODUCT_ENVIRONMENT,
  productUnit,
  type SystemAccess,
} from '@spout/testkit'
import { openstackEnv } from '../env.ts'
import { ROOT } from '../verb.ts'

/** The connector's service account in the cluster and its rights, from the repository's manifests. */
export const ACCESS_MANIFESTS = ['connector', 'connector-gateways', 'connector-ingress'].map(
  (name) => `deploy/kubernetes/${name}-access.yaml`,
)
export const PROGRAM = 'apps/connector/src/main.ts'
/** The connector of the tenants' cluster: the name of its process, and of its directory and log in the lab. */
const CONNECTOR = 'connector'
const LISTENING = '"event":"listening"'

export const directoryOf = (lab: Lab, name = CONNECTOR): string => path.join(lab.directory, name)
export const connectorConfigFile = (lab: Lab, name = CONNECTOR): string =>
  path.join(directoryOf(lab, name), 'connector.yaml')

/** The command with which a tenant creates the credential; the secret is shown once. */
export const CREDENTIAL_COMMAND = 'application credential create cluster --role balancer'

/** On a busy machine, the client takes long only to load its libraries. */
const CREDENTIAL_WITHIN_MS = 120_000

interface Credential {
  readonly id: string
  readonly secret: string
}

/** Creates a tenant's credential of role `balancer` with the unmodified OpenStack client. */
export async function makeCredential(access: SystemAccess, command: string = CREDENTIAL_COMMAND): Promise<Credential> {
  const account = access.projects[0] ?? access.admin
  const argv = ['openstack', ...command.split(' '), '-f', 'json']
  return JSON.parse(
    await must(argv, { env: openstackEnv(access.endpoint, account), timeoutMs: CREDENTIAL_WITHIN_MS }),
  ) as Credential
}

/** Writes the secret of a connector's credential. @returns the file's path */
export function writeSecret(directory: string, { secret }: Credential): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const file = path.join(directory, 'spout-secret')
  writeFileSync(file, secret, { mode: 0o600 })
  return file
}

/** Writes a kubeconfig for a connector's service account. @returns the file's path */
export function writeKubeconfig(
  directory: string,
  { url, caFile }: KubernetesCluster['api']['access'],
  token: string,
): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  writeFileSync(path.join(directory, 'cluster-token'), token, { mode: 0o600 })
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'cluster', cluster: { server: url, 'certificate-authority': caFile } }],
    users: [{ name: 'connector', user: { tokenFile: 'cluster-token' } }],
    contexts: [{ name: 'cluster', context: { cluster: 'cluster', user: 'connector', namespace: 'spout' } }],
    'current-context': 'cluster',
  }
  const file = path.join(directory, 'kubeconfig')
  // JSON is YAML too.
  writeFileSync(file, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 })
  return file
}

/** There is one connector, and nobody starts it again: with a lease it would end when the API server is slow. */
export const LEADS_ALONE = ['leader:', '  elect: false']

/** Writes the settings of the lab's connector. */
export function writeConnectorConfig(lab: Lab, access: SystemAccess, credential: Credential): void {
  const directory = directoryOf(lab)
  const text = [
    'spout:',
    `  endpoint: ${access.endpoint}`,
    `  applicationCredentialId: ${credential.id}`,
    `  applicationCredentialSecretFile: ${writeSecret(directory, credential)}`,
    'kubernetes:',
    `  kubeconfig: ${path.join(directory, 'kubeconfig')}`,
    'network:',
    '  name: net',
    ...LEADS_ALONE,
    'http:',
    '  host: 127.0.0.1',
    '  port: 0',
  ].join('\n')
  writeFileSync(connectorConfigFile(lab), `${text}\n`)
}

/** Starts a connector with its written settings. */
export async function startConnector(lab: Lab, name = CONNECTOR): Promise<Daemon> {
  const argv = [process.execPath, ...productUnit('control-plane').nodeOptions, path.join(ROOT, PROGRAM)]
  return lab.start('host', name, [...argv, '--config', connectorConfigFile(lab, name)], {
    env: PRODUCT_ENVIRONMENT,
    readyText: LISTENING,
  })
}

/** Whether the connector is set up, and whether it runs. */
export const connectorState = (lab: Lab, name = CONNECTOR): 'absent' | 'stopped' | 'running' =>
  !existsSync(connectorConfigFile(lab, name)) ? 'absent' : lab.process(name) === null ? 'stopped' : 'running'

/** The base URL of the connector's metrics. */
export function connectorUrl(lab: Lab): string {
  const lines = readFileSync(path.join(lab.directory, `${CONNECTOR}.log`), 'utf8').split('\n')
  const { httpPort } = JSON.parse(lines.findLast((line) => line.includes(LISTENING)) ?? '{}') as { httpPort?: number }
  return `http://127.0.0.1:${httpPort ?? 0}`
}
