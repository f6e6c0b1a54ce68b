import { hash } from 'node:crypto'

/**
 * Names one version of a certificate: the start of the SHA-256 over chain and key.
 * @param pem chain and key, as they are kept
 */
export const contentIdOf = (pem: string): string => hash('sha256', pem, 'hex').slice(0, 32)
