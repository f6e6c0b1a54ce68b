import { uuid5 } from '../addresses/ids.ts'
import type { CertificateLabels, StoredCertificate } from '../control-plane/certificate-service.ts'

/**
 * UUID namespace for the ids of Secrets in tags. A tag holds an id, because `namespace/name` can be longer than a tag.
 */
const SECRETS_NAMESPACE = '8f6d0f3c-7c59-5f0a-9a54-2f6a6f0b1c33'
const LONGEST_NAME = 255
const OF_SECRET = 'kubernetes.secret='
const CONTENT = 'kubernetes.content='

/** The tag of certificates that were made of this Secret. @param owner the cluster, and the kinds that name Secrets */
export const secretTag = (owner: string, key: string): string =>
  `${OF_SECRET}${uuid5(SECRETS_NAMESPACE, `${owner}/${key}`)}`

/** The name and tags of a Secret's certificate. They tell the cluster, the Secret and the version of its content. */
export const labelsOf = (owner: string, key: string, hash: string): CertificateLabels => ({
  name: key.slice(0, LONGEST_NAME),
  tags: [`kubernetes.cluster=${owner}`.slice(0, 255), secretTag(owner, key), `${CONTENT}${hash}`],
})

/** Whether a certificate was made of a Secret for this owner. */
export const isOfOwner = ({ tags }: StoredCertificate, owner: string): boolean =>
  tags.includes(`kubernetes.cluster=${owner}`.slice(0, 255)) && tags.some((tag) => tag.startsWith(OF_SECRET))

export const tagOfSecret = ({ tags }: StoredCertificate): string => tags.find((tag) => tag.startsWith(OF_SECRET)) ?? ''

export const hasContent = ({ tags }: StoredCertificate, hash: string): boolean => tags.includes(`${CONTENT}${hash}`)
