import { createHash, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'

/** Files of a release by name. */
export type Files = ReadonlyMap<string, Uint8Array>

export interface Build {
  /** URL of the source, for a rebuild. */
  readonly repository: string
  /** SHA-1 of the built commit. */
  readonly commit: string
  readonly lockFile: Uint8Array
  /** The builder: a URI that names a machine or a workflow. */
  readonly builder: string
  /** RFC 3339. */
  readonly finishedAt: string
}

/** A DSSE envelope (github.com/secure-systems-lab/dsse, protocol.md) around an in-toto statement. */
export interface Envelope {
  readonly payloadType: string
  /** Base64. */
  readonly payload: string
  readonly signatures: readonly { readonly keyid: string; readonly sig: string }[]
}

const PAYLOAD_TYPE = 'application/vnd.in-toto+json'
const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1'

/** An in-toto statement v1 with the predicate SLSA provenance v1: what was built, from what, and by whom. */
export function statementOf(files: Files, build: Build): object {
  return {
    _type: STATEMENT_TYPE,
    subject: [...files].map(([name, bytes]) => ({ name, digest: { sha256: sha256(bytes) } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: `${build.repository}/blob/${build.commit}/docs/installing.md`,
        externalParameters: { repository: build.repository, ref: build.commit },
        resolvedDependencies: [
          { uri: `git+${build.repository}`, digest: { gitCommit: build.commit } },
          { name: 'package-lock.json', digest: { sha256: sha256(build.lockFile) } },
        ],
      },
      runDetails: { builder: { id: build.builder }, metadata: { finishedOn: build.finishedAt } },
    },
  }
}

/** @param privateKey PEM of an Ed25519 key */
export function sealed(statement: object, privateKey: string): Envelope {
  const payload = Buffer.from(JSON.stringify(statement))
  const key = createPrivateKey(privateKey)
  const keyid = sha256(createPublicKey(key).export({ type: 'spki', format: 'der' }))
  const sig = sign(null, encoded(payload), key).toString('base64')
  return { payloadType: PAYLOAD_TYPE, payload: payload.toString('base64'), signatures: [{ keyid, sig }] }
}

/**
 * Why these files do not match the envelope; null when they do.
 * @param publicKey PEM of an Ed25519 key
 */
export function refusalOf(envelope: Envelope, files: Files, publicKey: string): string | null {
  const payload = Buffer.from(envelope.payload, 'base64')
  const key = createPublicKey(publicKey)
  const signed = envelope.signatures.some(({ sig }) => verify(null, encoded(payload), key, Buffer.from(sig, 'base64')))
  if (envelope.payloadType !== PAYLOAD_TYPE || !signed) return 'no signature is from this key'
  const { subject = [] } = JSON.parse(payload.toString()) as {
    readonly subject?: readonly { readonly name: string; readonly digest: { readonly sha256: string } }[]
  }
  for (const [name, bytes] of files) {
    const known = subject.find((one) => one.name === name)
    if (known === undefined) return `${name} is not in the envelope`
    if (known.digest.sha256 !== sha256(bytes)) return `${name} is another file: its SHA-256 is ${sha256(bytes)}`
  }
  return null
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** The signed bytes: DSSE's pre-authentication encoding, so that one type of payload cannot be taken for another. */
const encoded = (payload: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${payload.length} `), payload])
