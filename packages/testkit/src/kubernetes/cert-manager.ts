import path from 'node:path'
import { requiredVersion, testbedModule } from './build.ts'
import { ensureGoBuild } from './go-build.ts'
import { moduleFolder } from './go-module.ts'

/** cert-manager, and an ACME server (RFC 8555) that gives it certificates. */
export interface CertManagerPrograms {
  readonly controller: string
  /** What its pods run that answer HTTP-01 challenges. */
  readonly acmesolver: string
  /** Folder with the definitions of its kinds. */
  readonly definitions: string
  readonly pebble: string
  /** Answers every name with addresses that it is told. */
  readonly names: string
  /** Folder with the key of pebble's own API, and the authority of its certificate. */
  readonly pebbleCertificates: string
}

const CERT_MANAGER = 'github.com/cert-manager/cert-manager'
const PEBBLE = 'github.com/letsencrypt/pebble/v2'

/** Builds them from their Go modules if they are missing. */
export async function ensureCertManager(): Promise<CertManagerPrograms> {
  const [ours, theirs] = [testbedModule('cert-manager'), testbedModule('pebble')]
  const versions = [requiredVersion(ours.sources, CERT_MANAGER), requiredVersion(theirs.sources, PEBBLE)] as const
  const built = await ensureGoBuild({
    ...ours,
    packages: ['./...'],
    linkerFlags: [],
    announcement: `Building cert-manager ${versions[0]} from its Go module: about four minutes of processor time the first time.`,
  })
  const servers = await ensureGoBuild({
    ...theirs,
    packages: ['tool'],
    linkerFlags: [],
    announcement: `Building the ACME server pebble ${versions[1]} from its Go module: about a minute the first time.`,
  })
  return {
    controller: path.join(built, 'controller'),
    acmesolver: path.join(built, 'acmesolver'),
    definitions: await moduleFolder(CERT_MANAGER, versions[0], 'deploy/crds'),
    pebble: path.join(servers, 'pebble'),
    names: path.join(servers, 'pebble-challtestsrv'),
    pebbleCertificates: await moduleFolder(PEBBLE, versions[1], 'test/certs'),
  }
}
