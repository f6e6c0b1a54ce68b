import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { CertManagerPrograms } from '@spout/testkit'
import { installDefinitions } from '../../packages/intents/gateway/src/testing/install-gateway-api.fixture.ts'
import type { ServiceLab } from './service-lab.ts'

/** The image of the pods that answer challenges. */
export const SOLVER_IMAGE = 'acmesolver'
const NAMES = '127.0.0.1:8053'
/** Of pebble's API to be asked for its authority. */
const MANAGEMENT = 'https://127.0.0.1:15000'

/**
 * The place `client` becomes somewhere outside from where pebble checks challenges, and where cert-manager runs. Its
 * names are those that `point` says.
 */
export async function startAcme(lab: ServiceLab, programs: CertManagerPrograms) {
  const { system, cluster } = lab
  const start = (name: string, argv: readonly string[], readyText: string, env: Record<string, string> = {}) =>
    system.lab.start('client', name, argv, { readyText, env })
  await reachApiServer(lab)
  await installDefinitions(cluster.api, programs.definitions)
  const off = ['-http01', '', '-https01', '', '-tlsalpn01', '', '-doh', '']
  const api = ['-management', '127.0.0.1:8055', '-defaultIPv6', '']
  await start('names', [programs.names, '-dnsserver', NAMES, ...api, ...off], 'Starting management server')
  await start(
    'pebble',
    [programs.pebble, '-config', pebbleConfig(lab, programs), '-dnsserver', NAMES],
    'ACME directory available',
    {
      PEBBLE_VA_NOSLEEP: '1',
      // Every renewal is proven anew.
      PEBBLE_AUTHZREUSE: '0',
    },
  )
  const flags = [`--kubeconfig=${cluster.kubeconfigFile}`, `--acme-http01-solver-image=${SOLVER_IMAGE}`]
  await system.lab.start(
    'client',
    'cert-manager',
    [programs.controller, ...flags, `--acme-http01-solver-nameservers=${NAMES}`, '--enable-gateway-api'],
    {},
  )
  const curl = (...argv: readonly string[]) =>
    system.lab.must('client', ['curl', '--silent', '--show-error', '--fail', '--insecure', ...argv])
  return {
    /** Where Issuers find the ACME server. */
    acme: {
      server: 'https://127.0.0.1:14000/dir',
      caBundle: readFileSync(path.join(programs.pebbleCertificates, 'pebble.minica.pem')).toString('base64'),
    },
    /** The authority that clients of the certificates must know. */
    authority: () => curl(`${MANAGEMENT}/roots/0`),
    point: (host: string, address: string) =>
      curl('--data', JSON.stringify({ host, addresses: [address] }), 'http://127.0.0.1:8055/add-a'),
  }
}

function pebbleConfig({ system }: ServiceLab, { pebbleCertificates }: CertManagerPrograms): string {
  const file = path.join(system.lab.directory, 'pebble.json')
  const pebble = {
    listenAddress: '127.0.0.1:14000',
    managementListenAddress: '127.0.0.1:15000',
    certificate: path.join(pebbleCertificates, 'localhost/cert.pem'),
    privateKey: path.join(pebbleCertificates, 'localhost/key.pem'),
    httpPort: 80,
    tlsPort: 443,
    ocspResponderURL: '',
    externalAccountBindingRequired: false,
    retryAfter: { authz: 1, order: 1 },
    profiles: { default: { description: 'ninety days', validityPeriod: 7_776_000 } },
  }
  writeFileSync(file, JSON.stringify({ pebble }))
  return file
}

/** Connects the clients' place to the management network, where the API server is. */
async function reachApiServer({ system: { lab } }: ServiceLab): Promise<void> {
  const ip = (place: 'fabric' | 'client', words: string) => lab.must(place as 'client', ['ip', ...words.split(' ')])
  await ip('fabric', `link add name client-mgmt type veth peer name mgmt0 netns ${lab.namespace('client')}`)
  await ip('fabric', 'link set dev client-mgmt master br-mgmt')
  await ip('fabric', 'link set dev client-mgmt up')
  await ip('client', `addr add ${lab.hostAddress.replace(/\.1$/, '.10')}/24 dev mgmt0`)
  await ip('client', 'link set dev mgmt0 up')
}
