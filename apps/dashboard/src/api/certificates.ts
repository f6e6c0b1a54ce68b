import type { Certificate, CertificateUse, CertificateValidity } from '@spout/model'
import { ask } from './ask.ts'

export interface ShownCertificate extends Omit<Certificate, 'sealedKey'> {
  readonly use: CertificateUse
  readonly status: CertificateValidity
}

export interface CertificateDraft {
  readonly name: string
  /** PEM, leaf first. */
  readonly chain: string
  /** PEM; left out for certificates of authorities. */
  readonly key?: string
}

interface List<T> {
  readonly items: readonly T[]
}

export const listCertificates = async (signal: AbortSignal): Promise<readonly ShownCertificate[]> =>
  (await ask<List<ShownCertificate>>('GET', '/certificates', { signal })).items

export const createCertificate = (draft: CertificateDraft): Promise<ShownCertificate> =>
  ask('POST', '/certificates', { body: draft })

export const deleteCertificate = (id: string): Promise<void> => ask('DELETE', `/certificates/${id}`)
