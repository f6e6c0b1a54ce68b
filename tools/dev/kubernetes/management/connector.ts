import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type Lab, PRODUCT_ENVIRONMENT, productUnit, type SystemAccess } from '@spout/testkit'
import { ROOT } from '../../verb.ts'
import { LISTENING, makeCredential, PROGRAM, writeKubeconfig } from '../connector.ts'
import { CLUSTER } from './cluster.ts'

const PROCESS = `connector-${CLUSTER}`
/** The manifests of its account's rights: the provider chooses projects by labels of namespaces. */
export const ACCESS_MANIFESTS = ['connector', 'connector-ingress', 'connector-namespaces'].map(
  (name) => `deploy/kubernetes/${name}-access.yaml`,
)
/** The tenant's credential for this connector; the secret is shown once. */
export const CREDENTIAL_COMMAND = `application credential create ${CLUSTER} --role balancer`

const directoryOf = (lab: Lab): string => path.join(lab.directory, PROCESS)
export const configFile = (lab: Lab): string => path.join(directoryOf(lab), 'connector.yaml')

/** Writes the settings: one project, for the namespaces with its tenant's label. */
export async function writeSettings(lab: Lab, access: SystemAccess, server: Server, token: string): Promise<void> {
  const { id, secret } = await makeCredential(access, CREDENTIAL_COMMAND)
  const directory = directoryOf(lab)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const secretFile = path.join(directory, 'acme-secret')
  writeFileSync(secretFile, secret, { mode: 0o600 })
  const text = [
    'spout:',
    `  endpoint: ${access.endpoint}`,
    'projects:',
    '  - name: acme',
    '    namespaceLabels: {spout.dev/tenant: acme}',
    `    applicationCredentialId: ${id}`,
    `    applicationCredentialSecretFile: ${secretFile}`,
    'kubernetes:',
    `  kubeconfig: ${writeKubeconfig(directory, server, token)}`,
    'http:',
    '  host: 127.0.0.1',
    '  port: 0',
  ].join('\n')
  writeFileSync(configFile(lab), `${text}\n`)
}

type Server = Parameters<typeof writeKubeconfig>[1]

export async function startConnector(lab: Lab): Promise<void> {
  const argv = [process.execPath, ...productUnit('control-plane').nodeOptions, path.join(ROOT, PROGRAM)]
  await lab.start('host', PROCESS, [...argv, '--config', configFile(lab)], {
    env: PRODUCT_ENVIRONMENT,
    readyText: LISTENING,
  })
}

/** Starts it again where it was set up and has stopped. */
export async function resumeConnector(lab: Lab): Promise<void> {
  if (existsSync(configFile(lab)) && lab.process(PROCESS) === null) await startConnector(lab)
}
