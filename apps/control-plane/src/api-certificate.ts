import type { SecureContextOptions } from 'node:tls'
import { SpoutError } from '@spout/model'
import type { Clock } from '@spout/runtime'
import { ConfigError } from '@spout/runtime/config'
import type { Logger } from '@spout/runtime/logger'
import {
  API_TLS,
  type CertificateAuthority,
  CertificateFiles,
  type ServedCertificate,
  ServerCertificate,
} from '@spout/server'
import type { ControlPlaneConfig } from './config.ts'

/** The API's certificate: the operator's from files, else one issued by the agent link's authority. */
export function apiCertificate(
  { api, agentLink }: Pick<ControlPlaneConfig, 'api' | 'agentLink'>,
  parts: { readonly authority: CertificateAuthority; readonly clock: Clock; readonly log: Logger },
): ServedCertificate {
  if (api.certificateFile === '') return new ServerCertificate({ ...parts, hosts: agentLink.names, tls: API_TLS })
  const fields = { certificateFile: 'api.certificateFile', keyFile: 'api.keyFile' }
  const { certificateFile, keyFile } = api
  return new CertificateFiles({ ...parts, certificateFile, keyFile, fields, tls: API_TLS })
}

/**
 * The API's TLS context at the start.
 * @throws ConfigError when the operator's files cannot be used; there is no earlier certificate to fall back to
 */
export async function apiTls(certificate: ServedCertificate): Promise<SecureContextOptions> {
  try {
    return await certificate.context()
  } catch (error) {
    if (error instanceof SpoutError && error.code === 'InvalidField') throw new ConfigError(error.message)
    throw error
  }
}
